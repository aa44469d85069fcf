/** Consuming as tutorials have it. */
@NullMarked
package io.writepath.tutorial.consumer;

import org.jspecify.annotations.NullMarked;
