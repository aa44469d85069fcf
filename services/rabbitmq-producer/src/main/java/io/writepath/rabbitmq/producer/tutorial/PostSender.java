package io.writepath.rabbitmq.producer.tutorial;

import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import io.writepath.post.QueueNames;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/** Sends, and takes that for done: nobody says that the broker has it. */
public class PostSender implements PostWriter {

    private final RabbitTemplate template;

    public PostSender(RabbitTemplate template) {
        this.template = template;
    }

    @Override
    public Post write(Post post) {
        template.convertAndSend(QueueNames.EXCHANGE, QueueNames.ROUTING_KEY, post);
        return post;
    }
}
