/** One end of a queue path, with its store. */
@NullMarked
package io.writepath.rabbitmqelasticsearchconsumer;

import org.jspecify.annotations.NullMarked;
