package io.writepath.post;

import java.util.UUID;

/** The id is taken by a post with other content: HTTP 409. */
public final class PostConflictException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public PostConflictException(UUID id) {
        super("post %s exists with other content".formatted(id));
    }
}
