/** Publishing as tutorials have it. */
@NullMarked
package io.writepath.rabbitmq.producer.tutorial;

import org.jspecify.annotations.NullMarked;
