package io.writepath.controls;

import io.writepath.post.PostWriter;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Profile;

/** Profile {@code slowed}: every write takes longer by a tenth. For trials of the comparison alone. */
@AutoConfiguration
@Profile("slowed")
class SlowedAutoConfiguration {

    private static final int PERCENT = 10;

    @Bean
    static BeanPostProcessor slowdown() {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                return bean instanceof PostWriter writer ? new Slowdown(writer, PERCENT, System::nanoTime) : bean;
            }
        };
    }
}
