package io.writepath.web.inspector;

import com.sun.net.httpserver.Headers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.regex.Pattern;

/**
 * Whom the inspector answers. What is on loopback is open to every web page that a browser on this machine shows: one
 * of another site is known by its Origin, and one whose name was made to lead here by its Host. And whatever changes
 * data must know the token, as the password of HTTP's basic authentication.
 */
final class Admission {

    static final String USER = "runner";

    private static final Pattern LOOPBACK =
            Pattern.compile("(localhost|127\\.\\d+\\.\\d+\\.\\d+|\\[::1])(:\\d+)?", Pattern.CASE_INSENSITIVE);

    private final boolean anyChange;
    private final byte[] credentials;

    /** @param token where it is empty, nobody may change anything */
    Admission(String token) {
        anyChange = !token.isEmpty();
        credentials = bytes("Basic " + Base64.getEncoder().encodeToString(bytes(USER + ":" + token)));
    }

    boolean isFromHere(Headers request) {
        String host = request.getFirst("Host");
        return host != null && LOOPBACK.matcher(host).matches() && !request.containsKey("Origin");
    }

    /** Compares in constant time. */
    boolean mayChange(Headers request) {
        String given = request.getFirst("Authorization");
        return anyChange && given != null && MessageDigest.isEqual(credentials, bytes(given));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
