package io.writepath.rabbitmq.consumer;

import com.rabbitmq.client.AMQP;

/**
 * One message as the broker delivered it.
 *
 * @param tag number within its channel; acknowledging it as "multiple" acknowledges all before it too
 * @param redelivered the broker delivered it before, and nobody acknowledged it
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Delivery(long tag, boolean redelivered, AMQP.BasicProperties properties, byte[] body) {}
