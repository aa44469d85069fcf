package io.writepath.store.tutorial;

import io.writepath.post.PostWriter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Bean;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;

/** Stores posts in PostgreSQL through a plain Spring Data repository and the pool of Spring Boot's defaults. */
@AutoConfiguration(after = DataSourceAutoConfiguration.class)
@EnableConfigurationProperties(TutorialSettings.class)
@EntityScan(basePackageClasses = TutorialPost.class)
@EnableJpaRepositories(basePackageClasses = TutorialPostRepository.class, considerNestedRepositories = false)
public class TutorialStoreAutoConfiguration {

    @Bean
    TutorialPosts postReader(TutorialPostRepository repository) {
        return new TutorialPosts(repository);
    }

    @Bean
    @ConditionalOnMissingBean(PostWriter.class)
    TutorialPosts.Writer postWriter(TutorialPostRepository repository) {
        return new TutorialPosts.Writer(repository);
    }
}
