package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchAsyncClient;
import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.json.jackson.Jackson3JsonpMapper;
import co.elastic.clients.transport.rest_client.RestClientOptions;
import co.elastic.clients.transport.rest_client.RestClientTransport;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Map;
import org.apache.http.HttpHost;
import org.apache.http.client.config.RequestConfig;
import org.elasticsearch.client.Request;
import org.elasticsearch.client.RestClient;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * One connection pool to the cluster, as large as what may be in flight: the client's default of 10 connections a node
 * would queue in here and look like Elasticsearch's latency.
 *
 * <p>With several hosts the client itself sends a failed request again to the next one. That is harmless here only
 * because every write carries its document's id and never overwrites.
 */
final class Connection implements AutoCloseable {

    private static final Duration CONNECT = Duration.ofSeconds(1);
    private static final Duration FOREGROUND = Duration.ofSeconds(3);
    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration BACKGROUND = Duration.ofSeconds(30);

    private final JsonMapper json = JsonMapper.builder().build();
    private final RestClientTransport transport;
    private final RestClientOptions patience;
    private final RestClientOptions haste;

    /** @param connectionsMax per host */
    Connection(ElasticsearchSettings settings, int connectionsMax) {
        HttpHost[] hosts = settings.uris().stream().map(HttpHost::create).toArray(HttpHost[]::new);
        RestClient rest = RestClient.builder(hosts)
                .setHttpClientConfigCallback(
                        http -> http.setMaxConnPerRoute(connectionsMax).setMaxConnTotal(connectionsMax * hosts.length))
                .setRequestConfigCallback(request -> limit(request, FOREGROUND))
                .build();
        transport = new RestClientTransport(rest, new Jackson3JsonpMapper(json));
        patience = waiting(transport, BACKGROUND);
        haste = waiting(transport, SOON);
    }

    /** For writes and reads on behalf of a waiting client: an answer after a few seconds is of no use to it. */
    ElasticsearchAsyncClient foreground() {
        return new ElasticsearchAsyncClient(transport);
    }

    ElasticsearchClient foregroundBlocking() {
        return new ElasticsearchClient(transport);
    }

    /** For one of several questions that a waiting client's request takes. */
    ElasticsearchClient foregroundSoon() {
        return new ElasticsearchClient(transport, haste);
    }

    /** For administration, audits and the queue's consumer, which may take longer. */
    ElasticsearchClient background() {
        return new ElasticsearchClient(transport, patience);
    }

    /** For answers that the typed client has no faithful type for, such as settings under their own names. */
    JsonNode get(String path, Map<String, String> parameters) throws IOException {
        return send("GET", path, parameters, patience);
    }

    /** For what is asked each second: an answer to the question before it is of no use. */
    JsonNode getSoon(String path, Map<String, String> parameters) throws IOException {
        return send("GET", path, parameters, haste);
    }

    JsonNode post(String path, Map<String, String> parameters) throws IOException {
        return send("POST", path, parameters, patience);
    }

    private JsonNode send(String method, String path, Map<String, String> parameters, RestClientOptions wait)
            throws IOException {
        Request request = new Request(method, path);
        request.addParameters(parameters);
        request.setOptions(wait.restClientRequestOptions());
        try (InputStream answer =
                transport.restClient().performRequest(request).getEntity().getContent()) {
            return json.readTree(answer);
        }
    }

    @Override
    public void close() throws IOException {
        transport.close();
    }

    private static RestClientOptions waiting(RestClientTransport transport, Duration answer) {
        var options = ((RestClientOptions) transport.options()).restClientRequestOptions().toBuilder();
        options.setRequestConfig(limit(RequestConfig.custom(), answer).build());
        return new RestClientOptions(options.build(), false);
    }

    private static RequestConfig.Builder limit(RequestConfig.Builder request, Duration answer) {
        return request.setConnectTimeout((int) CONNECT.toMillis())
                .setConnectionRequestTimeout((int) FOREGROUND.toMillis())
                .setSocketTimeout((int) answer.toMillis());
    }
}
