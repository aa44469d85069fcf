package io.writepath.post;

import org.jspecify.annotations.Nullable;

/**
 * The path could not reach its declared durability: HTTP 503. The message goes to the client, so it names the part and
 * the reason in words ("broker blocked", "no connection from the pool in 2 s") and nothing internal.
 */
public final class StoreUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StoreUnavailableException(String message) {
        super(message);
    }

    public StoreUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
