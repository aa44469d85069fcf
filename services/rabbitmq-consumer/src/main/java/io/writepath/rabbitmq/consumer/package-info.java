/** The far end of the queue paths: batches from the queue into the final store, acknowledged after the commit. */
@NullMarked
package io.writepath.rabbitmq.consumer;

import org.jspecify.annotations.NullMarked;
