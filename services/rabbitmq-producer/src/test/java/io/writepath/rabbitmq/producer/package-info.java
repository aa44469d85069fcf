@NullMarked
package io.writepath.rabbitmq.producer;

import org.jspecify.annotations.NullMarked;
