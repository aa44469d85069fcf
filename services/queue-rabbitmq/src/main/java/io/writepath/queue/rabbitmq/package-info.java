/**
 * What producer and consumer share of the broker: topology, message format, a publisher with confirms, and the truth
 * about the queue. Connections, topology and the listener container are Spring's. The publisher keeps its own channel
 * on Spring's publishing connection: a template's correlated confirms cost a channel and a blocked thread for every
 * unconfirmed message, and each post a message of its own.
 */
@NullMarked
package io.writepath.queue.rabbitmq;

import org.jspecify.annotations.NullMarked;
