package io.writepath.inspector;

import org.apache.coyote.AbstractProtocol;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;

/** The inspector beside Actuator, on the management port alone. */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
@Import({InspectorController.class, DataController.class, InspectorProblems.class})
class ManagementConfiguration {

    private static final int THREADS_MAX = 8;

    /** Of a refused bulk load: else a client that is still sending meets a closed connection, and no answer. */
    private static final int SWALLOW_BYTES_MAX = 64 * 1024 * 1024;

    @Bean
    FilterRegistrationBean<Admission> admission(InspectorSettings settings) {
        FilterRegistrationBean<Admission> filter = new FilterRegistrationBean<>(new Admission(settings.token()));
        filter.addUrlPatterns("/inspector/*");
        return filter;
    }

    /** Boot's own, in this context, knows only what the application itself answers to its clients. */
    @Bean
    ExceptionHandlerExceptionResolver managementProblems(RequestMappingHandlerAdapter answers) {
        ExceptionHandlerExceptionResolver resolver = new ExceptionHandlerExceptionResolver();
        resolver.setMessageConverters(answers.getMessageConverters());
        resolver.setOrder(Ordered.HIGHEST_PRECEDENCE);
        return resolver;
    }

    /**
     * Platform threads that serve nothing else, so that it answers while every virtual thread of the measured server
     * waits. Last: Boot gives each server virtual threads where the application has them.
     */
    @Bean
    ManagementThreads managementThreads() {
        return new ManagementThreads();
    }

    @Order(Ordered.LOWEST_PRECEDENCE)
    static final class ManagementThreads implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {

        @Override
        public void customize(TomcatServletWebServerFactory factory) {
            factory.addConnectorCustomizers(connector -> {
                if (connector.getProtocolHandler() instanceof AbstractHttp11Protocol<?> protocol) {
                    giveThreads(protocol);
                    protocol.setMaxSwallowSize(SWALLOW_BYTES_MAX);
                }
            });
        }

        private static void giveThreads(AbstractProtocol<?> protocol) {
            protocol.setExecutor(null); // the protocol makes a pool of its own
            protocol.setMaxThreads(THREADS_MAX);
            protocol.setMinSpareThreads(1);
        }
    }
}
