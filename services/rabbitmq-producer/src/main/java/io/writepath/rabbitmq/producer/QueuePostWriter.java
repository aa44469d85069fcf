package io.writepath.rabbitmq.producer;

import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import io.writepath.post.StoreUnavailableException;
import io.writepath.queue.rabbitmq.ConfirmPublisher;
import io.writepath.queue.rabbitmq.PostMessages;
import io.writepath.queue.rabbitmq.PublishOutcome;
import java.time.Duration;

/**
 * Writing is a place in a confirmed message of a quorum queue. It cannot know what the final store holds under the id,
 * so a repeated id is always accepted; the consumer keeps the first and parks one with other content.
 */
final class QueuePostWriter implements PostWriter {

    private final ConfirmPublisher publisher;
    private final Duration confirmTimeout;

    QueuePostWriter(ConfirmPublisher publisher, Duration confirmTimeout) {
        this.publisher = publisher;
        this.confirmTimeout = confirmTimeout;
    }

    @Override
    public Post write(Post post) {
        PublishOutcome outcome = publisher.publish(PostMessages.encode(post), confirmTimeout);
        if (!outcome.isSuccess()) {
            throw new StoreUnavailableException(outcome.reason());
        }
        return post;
    }
}
