package io.writepath.tutorial.producer;

import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import io.writepath.queue.rabbitmq.QueueNames;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/** Sends, and takes that for done: nobody says that the broker has it. */
final class PostSender implements PostWriter {

    private final RabbitTemplate template;

    PostSender(RabbitTemplate template) {
        this.template = template;
    }

    @Override
    public Post write(Post post) {
        template.convertAndSend(QueueNames.EXCHANGE, QueueNames.ROUTING_KEY, post);
        return post;
    }
}
