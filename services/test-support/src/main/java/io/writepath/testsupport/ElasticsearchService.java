package io.writepath.testsupport;

import java.net.URI;

/**
 * An Elasticsearch without security.
 *
 * @param uri of its first node
 * @param nodes data nodes; a replica needs two
 */
public record ElasticsearchService(String uri, int nodes) {

    public String host() {
        return URI.create(uri).getHost();
    }

    public int port() {
        return URI.create(uri).getPort();
    }

    /** The same first node reached through another address: a proxy that a test can break. */
    public ElasticsearchService through(TcpProxy proxy) {
        return new ElasticsearchService("http://127.0.0.1:" + proxy.port(), nodes);
    }
}
