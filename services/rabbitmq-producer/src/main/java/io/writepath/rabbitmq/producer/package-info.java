/** The ingress of the queue paths: a POST is answered once the broker confirmed it; reads come from the final store. */
@NullMarked
package io.writepath.rabbitmq.producer;

import org.jspecify.annotations.NullMarked;
