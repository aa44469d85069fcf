@NullMarked
package io.writepath.rabbitmq.consumer;

import org.jspecify.annotations.NullMarked;
