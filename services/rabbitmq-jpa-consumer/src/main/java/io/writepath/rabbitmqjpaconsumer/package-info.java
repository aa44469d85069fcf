/** One end of a queue path, with its store. */
@NullMarked
package io.writepath.rabbitmqjpaconsumer;

import org.jspecify.annotations.NullMarked;
