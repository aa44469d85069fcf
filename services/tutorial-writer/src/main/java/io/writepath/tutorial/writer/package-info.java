/** The direct write path as tutorials have it. */
@NullMarked
package io.writepath.tutorial.writer;

import org.jspecify.annotations.NullMarked;
