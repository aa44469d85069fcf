package io.writepath.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** The same images and settings as docker-compose.yml, started by Testcontainers and stopped when the tests end. */
final class Containers {

    private static final Duration START_MAX = Duration.ofMinutes(3);
    private static final int POSTGRES_PORT = 5432;
    private static final int RABBITMQ_PORT = 5672;
    private static final int ELASTICSEARCH_PORT = 9200;

    private Containers() {}

    static boolean engineAnswers() {
        return DockerClientFactory.instance().isDockerAvailable();
    }

    static PostgresService postgres() {
        GenericContainer<?> container = container("POSTGRES_IMAGE", "postgres:18")
                .withEnv(Map.of(
                        "POSTGRES_USER", "writepath", "POSTGRES_PASSWORD", "writepath", "POSTGRES_DB", "writepath"))
                .withCommand("postgres", "-c", "track_commit_timestamp=on", "-c", "max_connections=100")
                .withExposedPorts(POSTGRES_PORT)
                // Twice: the image starts a first server only to create the database.
                .waitingFor(Wait.forLogMessage(".*database system is ready to accept connections.*\\s", 2)
                        .withStartupTimeout(START_MAX));
        start(container);
        String url = "jdbc:postgresql://%s:%d/writepath".formatted(container.getHost(), container.getFirstMappedPort());
        return new PostgresService(url, "writepath", "writepath");
    }

    static RabbitService rabbitmq() {
        GenericContainer<?> container = container("RABBITMQ_IMAGE", "rabbitmq:4.0-management")
                .withEnv(Map.of("RABBITMQ_DEFAULT_USER", "writepath", "RABBITMQ_DEFAULT_PASS", "writepath"))
                .withExposedPorts(RABBITMQ_PORT)
                .waitingFor(Wait.forLogMessage(".*Server startup complete.*", 1).withStartupTimeout(START_MAX));
        start(container);
        return new RabbitService(
                container.getHost(), container.getFirstMappedPort(), arguments -> rabbitmqctl(container, arguments));
    }

    private static String rabbitmqctl(GenericContainer<?> container, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of("rabbitmqctl"));
        command.addAll(arguments);
        try {
            ExecResult result = container.execInContainer(command.toArray(String[]::new));
            if (result.getExitCode() != 0) {
                throw new IllegalStateException(command + " failed: " + result.getStdout() + result.getStderr());
            }
            return result.getStdout();
        } catch (IOException unreachable) {
            throw new UncheckedIOException(unreachable);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(command + " was interrupted", interrupted);
        }
    }

    static ElasticsearchService elasticsearch() {
        Network network = Network.newNetwork();
        GenericContainer<?> first =
                elasticsearchNode(network, "elasticsearch").withEnv("cluster.initial_master_nodes", "elasticsearch");
        GenericContainer<?> second = elasticsearchNode(network, "elasticsearch-2")
                .withEnv("discovery.seed_hosts", "elasticsearch:9300")
                .waitingFor(Wait.forHttp("/_cluster/health?wait_for_nodes=2&timeout=100s")
                        .forStatusCode(200)
                        .withStartupTimeout(START_MAX));
        start(first);
        start(second);
        return new ElasticsearchService("http://%s:%d".formatted(first.getHost(), first.getFirstMappedPort()), 2);
    }

    private static GenericContainer<?> elasticsearchNode(Network network, String name) {
        String image = "docker.elastic.co/elasticsearch/elasticsearch:8.19.21";
        return container("ELASTICSEARCH_IMAGE", image)
                .withNetwork(network)
                .withNetworkAliases(name)
                .withEnv("node.name", name)
                .withEnv("cluster.name", "writepath-test")
                .withEnv("xpack.security.enabled", "false")
                .withEnv("action.auto_create_index", "false")
                .withEnv("cluster.routing.allocation.disk.threshold_enabled", "false")
                .withEnv("node.store.allow_mmap", "false")
                .withEnv("ES_JAVA_OPTS", "-Xms512m -Xmx512m")
                .withExposedPorts(ELASTICSEARCH_PORT)
                .waitingFor(Wait.forHttp("/_cluster/health").forStatusCode(200).withStartupTimeout(START_MAX));
    }

    private static GenericContainer<?> container(String variable, String image) {
        return new GenericContainer<>(DockerImageName.parse(System.getenv().getOrDefault(variable, image)));
    }

    private static void start(GenericContainer<?> container) {
        Runtime.getRuntime().addShutdownHook(new Thread(container::stop, "stop-" + container.getDockerImageName()));
        container.start();
    }
}
