package io.writepath.rabbitmq.producer;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PublisherSettingsTests {

    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void refusesToStartWithoutAChannel(int channels) {
        assertThatThrownBy(() -> new PublisherSettings(channels, true, true, Duration.ofSeconds(2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("writepath.publisher.channels must be at least 1, not " + channels);
    }
}
