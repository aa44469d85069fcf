/** Truth for the harness, on a port and on threads of its own: identical for every write path. */
@NullMarked
package io.writepath.web.inspector;

import org.jspecify.annotations.NullMarked;
