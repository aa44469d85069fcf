package io.writepath.queue.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PostsPerMessageTests {

    private final PostsPerMessage perMessage = new PostsPerMessage();

    @Test
    void noMessageHasNoPostsWhateverWentBy() {
        perMessage.add(200);

        assertThat(perMessage.estimate(0)).isZero();
    }

    @Test
    void aMessageHasAtLeastOnePost() {
        assertThat(perMessage.estimate(7)).isEqualTo(7);
    }

    @Test
    void theEstimateIsTheMeanOfWhatWentBy() {
        perMessage.add(10);
        perMessage.add(30);

        assertThat(perMessage.estimate(5)).isEqualTo(100);
    }

    @Test
    void theEstimateFollowsALoadThatChanges() {
        for (int message = 0; message < 1_000; message++) {
            perMessage.add(1);
        }
        for (int message = 0; message < 1_000; message++) {
            perMessage.add(50);
        }

        assertThat(perMessage.estimate(100)).isBetween(4_900L, 5_000L);
    }
}
