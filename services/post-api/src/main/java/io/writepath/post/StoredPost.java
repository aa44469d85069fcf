package io.writepath.post;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One stored row or document as the audit reads it back. Read from the store itself, never from a cache.
 *
 * @param durableAt when it became durable in this store, where the store or this process knows
 */
public record StoredPost(UUID id, String content, @Nullable Instant durableAt) {}
