package io.writepath.inspector;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Set;
import java.util.regex.Pattern;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;

/**
 * Whom the inspector answers. What is on loopback is open to every web page that a browser on this machine shows: one
 * of another site is known by its Origin, and one whose name was made to lead here by its Host. And whatever changes
 * data must know the token, as the password of HTTP's basic authentication.
 */
final class Admission extends HttpFilter {

    static final String USER = "runner";

    private static final long serialVersionUID = 1L;
    private static final Set<String> CHANGE_NOTHING = Set.of("GET", "HEAD", "OPTIONS");
    private static final Pattern LOOPBACK =
            Pattern.compile("(localhost|127\\.\\d+\\.\\d+\\.\\d+|\\[::1])(:\\d+)?", Pattern.CASE_INSENSITIVE);

    private final boolean anyChange;
    private final byte[] credentials;

    /** @param token where it is empty, nobody may change anything */
    Admission(String token) {
        anyChange = !token.isEmpty();
        credentials = bytes("Basic " + Base64.getEncoder().encodeToString(bytes(USER + ":" + token)));
    }

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (!isFromHere(request)) {
            refuse(response, HttpStatus.FORBIDDEN, "Ask 127.0.0.1 or localhost, and from no web page.");
        } else if (!CHANGE_NOTHING.contains(request.getMethod()) && !mayChange(request)) {
            response.setHeader(HttpHeaders.WWW_AUTHENTICATE, "Basic realm=\"inspector\"");
            refuse(
                    response,
                    HttpStatus.UNAUTHORIZED,
                    "Give the token of INSPECTOR_TOKEN, as the password of " + USER + ".");
        } else {
            chain.doFilter(request, response);
        }
    }

    private static boolean isFromHere(HttpServletRequest request) {
        String host = request.getHeader(HttpHeaders.HOST);
        return host != null && LOOPBACK.matcher(host).matches() && request.getHeader(HttpHeaders.ORIGIN) == null;
    }

    /** Compares in constant time. */
    private boolean mayChange(HttpServletRequest request) {
        String given = request.getHeader(HttpHeaders.AUTHORIZATION);
        return anyChange && given != null && MessageDigest.isEqual(credentials, bytes(given));
    }

    private static void refuse(HttpServletResponse response, HttpStatus status, String detail) throws IOException {
        response.setStatus(status.value());
        response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
        response.getWriter()
                .write("{\"status\":%d,\"title\":\"%s\",\"detail\":\"%s\"}"
                        .formatted(status.value(), status.getReasonPhrase(), detail));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
