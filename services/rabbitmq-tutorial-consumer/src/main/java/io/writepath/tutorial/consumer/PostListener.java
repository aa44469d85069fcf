package io.writepath.tutorial.consumer;

import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import io.writepath.queue.rabbitmq.QueueNames;
import org.springframework.amqp.rabbit.annotation.RabbitListener;

/** One message, one row, one transaction; acknowledged by the container when this returns. */
public class PostListener {

    private final PostWriter posts;

    public PostListener(PostWriter posts) {
        this.posts = posts;
    }

    @RabbitListener(queues = QueueNames.QUEUE)
    public void receive(Post post) {
        posts.write(post);
    }
}
