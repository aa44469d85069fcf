/** A post as JSON: what a body may be, and what is wrong with one that is refused. */
@NullMarked
package io.writepath.json;

import org.jspecify.annotations.NullMarked;
