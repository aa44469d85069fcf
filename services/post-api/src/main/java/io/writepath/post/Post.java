package io.writepath.post;

import java.time.Instant;
import java.util.UUID;

/**
 * One line of text, identified by the client's own id (the idempotency key) or by a UUIDv7 of the server.
 *
 * @param content 1 to 1,000 characters, not blank; checked where it enters, not here
 * @param createdAt when the ingress accepted it, in milliseconds' precision
 */
public record Post(UUID id, String content, Instant createdAt) {}
