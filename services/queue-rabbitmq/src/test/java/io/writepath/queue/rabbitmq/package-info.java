@NullMarked
package io.writepath.queue.rabbitmq;

import org.jspecify.annotations.NullMarked;
