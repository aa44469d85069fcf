package io.writepath.testsupport;

import java.net.URI;

/** A PostgreSQL that records commit timestamps, as every variant's does. */
public record PostgresService(String jdbcUrl, String username, String password) {

    public String host() {
        return uri().getHost();
    }

    public int port() {
        return uri().getPort();
    }

    /** The same database reached through another address: a proxy that a test can break. */
    public PostgresService through(TcpProxy proxy) {
        String url = jdbcUrl.replace("//" + host() + ":" + port(), "//127.0.0.1:" + proxy.port());
        return new PostgresService(url, username, password);
    }

    private URI uri() {
        return URI.create(jdbcUrl.substring("jdbc:".length()));
    }
}
