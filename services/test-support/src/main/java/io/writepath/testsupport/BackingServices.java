package io.writepath.testsupport;

import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Real backing services for integration tests: those the environment names, else containers, else a failure that says
 * what to do. Started once for each test process and stopped with it.
 */
public final class BackingServices {

    private static final Map<String, String> ENVIRONMENT = System.getenv();
    private static @Nullable PostgresService postgres;
    private static @Nullable RabbitService rabbitmq;
    private static @Nullable ElasticsearchService elasticsearch;

    private BackingServices() {}

    /** {@code WRITEPATH_TEST_POSTGRES_URL} names a JDBC URL whose user and password are both {@code writepath}. */
    public static synchronized PostgresService postgres() {
        if (postgres == null) {
            String url = ENVIRONMENT.get("WRITEPATH_TEST_POSTGRES_URL");
            postgres = url != null
                    ? new PostgresService(url, "writepath", "writepath")
                    : inContainers("PostgreSQL", "WRITEPATH_TEST_POSTGRES_URL", Containers::postgres);
        }
        return postgres;
    }

    /**
     * {@code WRITEPATH_TEST_RABBITMQ_ADDRESS} names host:port, {@code WRITEPATH_TEST_RABBITMQCTL} the command that
     * administers it; user and password are both {@code writepath}.
     */
    public static synchronized RabbitService rabbitmq() {
        if (rabbitmq == null) {
            String address = ENVIRONMENT.get("WRITEPATH_TEST_RABBITMQ_ADDRESS");
            rabbitmq = address != null
                    ? RabbitService.local(address, required("WRITEPATH_TEST_RABBITMQCTL"))
                    : inContainers("RabbitMQ", "WRITEPATH_TEST_RABBITMQ_ADDRESS", Containers::rabbitmq);
        }
        return rabbitmq;
    }

    /**
     * {@code WRITEPATH_TEST_ELASTICSEARCH_URI} names the first node, {@code WRITEPATH_TEST_ELASTICSEARCH_NODES} how
     * many data nodes there are (1 when unset); containers are two nodes, so that a replica has a place.
     */
    public static synchronized ElasticsearchService elasticsearch() {
        if (elasticsearch == null) {
            String uri = ENVIRONMENT.get("WRITEPATH_TEST_ELASTICSEARCH_URI");
            int nodes = Integer.parseInt(ENVIRONMENT.getOrDefault("WRITEPATH_TEST_ELASTICSEARCH_NODES", "1"));
            elasticsearch = uri != null
                    ? new ElasticsearchService(uri, nodes)
                    : inContainers("Elasticsearch", "WRITEPATH_TEST_ELASTICSEARCH_URI", Containers::elasticsearch);
        }
        return elasticsearch;
    }

    private static String required(String variable) {
        String value = ENVIRONMENT.get(variable);
        if (value == null) {
            throw new IllegalStateException("integration tests need " + variable + " with the service's address");
        }
        return value;
    }

    private static <T> T inContainers(String service, String variable, Supplier<T> start) {
        if (!Containers.engineAnswers()) {
            throw new IllegalStateException(
                    "integration tests need %s: run `make test`, set %s, or start a Docker engine"
                            .formatted(service, variable));
        }
        return start.get();
    }
}
