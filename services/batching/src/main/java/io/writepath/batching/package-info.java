/** Puts writes that arrive at the same time together, for stores that flush a batch as fast as a single write. */
@NullMarked
package io.writepath.batching;

import org.jspecify.annotations.NullMarked;
