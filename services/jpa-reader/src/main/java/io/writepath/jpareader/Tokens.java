package io.writepath.jpareader;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** Who logged in and until when, signed (HMAC-SHA-256): to check a token asks nobody. */
final class Tokens {

    private static final String BEARER = "Bearer ";
    private static final String ALGORITHM = "HmacSHA256";
    private static final String SEPARATOR = ".";

    private final SecretKeySpec key;
    private final Duration lifetime;
    private final Clock clock;

    Tokens(byte[] key, Duration lifetime, Clock clock) {
        this.key = new SecretKeySpec(key, ALGORITHM);
        this.lifetime = lifetime;
        this.clock = clock;
    }

    String issue(long user) {
        String claim = user + SEPARATOR + clock.instant().plus(lifetime).getEpochSecond();
        return claim + SEPARATOR + signature(claim);
    }

    /**
     * Throws what is answered 401, unless the header {@code Authorization} has a token of ours that has not expired.
     */
    void assertValid(@Nullable String authorization) {
        if (authorization == null || !authorization.startsWith(BEARER)) {
            throw new UnauthorizedException("Log in, and send the token in the header Authorization: Bearer.");
        }
        String token = authorization.substring(BEARER.length());
        int end = token.lastIndexOf(SEPARATOR);
        String claim = token.substring(0, Math.max(end, 0));
        if (!MessageDigest.isEqual(bytes(signature(claim)), bytes(token.substring(end + 1)))) {
            throw new UnauthorizedException("The token is not valid; log in again.");
        }
        long until = Long.parseLong(claim.substring(claim.indexOf(SEPARATOR) + 1));
        if (clock.instant().getEpochSecond() >= until) {
            throw new UnauthorizedException("The token has expired; log in again.");
        }
    }

    private String signature(String claim) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM); // has a state, so one each
            mac.init(key);
            return Base64.getUrlEncoder().withoutPadding().encodeToString(mac.doFinal(bytes(claim)));
        } catch (GeneralSecurityException absent) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, absent);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
