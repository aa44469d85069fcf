/** One end of a queue path, with its store. */
@NullMarked
package io.writepath.rabbitmqelasticsearchproducer;

import org.jspecify.annotations.NullMarked;
