/** One end of a queue path, with its store. */
@NullMarked
package io.writepath.rabbitmqjpaproducer;

import org.jspecify.annotations.NullMarked;
