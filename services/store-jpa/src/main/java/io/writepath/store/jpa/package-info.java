/**
 * PostgreSQL through JPA: one insert a write, or one for those that arrive together; searches, batches for a queue's
 * far end, and the truth for the audit.
 */
@NullMarked
package io.writepath.store.jpa;

import org.jspecify.annotations.NullMarked;
