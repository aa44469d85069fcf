package io.writepath.post;

import org.jspecify.annotations.Nullable;

/** The store refuses posts of a load for good, which its message names: HTTP 409. */
public final class LoadRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public LoadRefusedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
