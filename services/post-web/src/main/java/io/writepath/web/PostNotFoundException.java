package io.writepath.web;

import java.util.UUID;

/** The store has no post of this id: HTTP 404. */
final class PostNotFoundException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    PostNotFoundException(UUID id) {
        super("there is no post " + id, null, false, false);
    }
}
