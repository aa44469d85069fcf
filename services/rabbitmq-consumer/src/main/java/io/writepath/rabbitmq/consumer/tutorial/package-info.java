/** Consuming as tutorials have it. */
@NullMarked
package io.writepath.rabbitmq.consumer.tutorial;

import org.jspecify.annotations.NullMarked;
