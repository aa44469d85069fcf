/**
 * What every write path shares: the post, the ports to write, read and inspect it, and how they fail. No Spring here.
 */
@NullMarked
package io.writepath.post;

import org.jspecify.annotations.NullMarked;
