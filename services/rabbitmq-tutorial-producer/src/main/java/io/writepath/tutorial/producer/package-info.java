/** Publishing as tutorials have it. */
@NullMarked
package io.writepath.tutorial.producer;

import org.jspecify.annotations.NullMarked;
