package io.writepath.web;

import io.writepath.json.StrictJson;
import java.time.Clock;
import org.apache.catalina.core.StandardHost;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jackson.autoconfigure.JsonMapperBuilderCustomizer;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** What every application with an HTTP contract has, whatever it serves. */
@AutoConfiguration
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@EnableConfigurationProperties(WebSettings.class)
@Import({ProblemAdvice.class, BodyLimit.class})
public class WebAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    Clock clock() {
        return Clock.systemUTC();
    }

    @Bean
    InFlightLimit inFlightLimit(WebSettings settings) {
        return new InFlightLimit(settings.inFlightMax());
    }

    @Bean
    ContentLengthFilter contentLengthFilter() {
        return new ContentLengthFilter();
    }

    @Bean
    WebServerFactoryCustomizer<TomcatServletWebServerFactory> problemsFromTomcat() {
        return factory -> factory.addContextCustomizers(context -> {
            if (context.getParent() instanceof StandardHost host) {
                host.setErrorReportValveClass(ProblemValve.class.getName());
            }
        });
    }

    @Bean
    WebMvcConfigurer admission(InFlightLimit limit) {
        return new WebMvcConfigurer() {
            @Override
            public void addInterceptors(InterceptorRegistry registry) {
                registry.addInterceptor(limit).addPathPatterns("/api/**");
            }
        };
    }

    @Bean
    JsonMapperBuilderCustomizer strictJson() {
        return StrictJson::configure;
    }
}
