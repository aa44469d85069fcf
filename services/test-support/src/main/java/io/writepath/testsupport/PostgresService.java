package io.writepath.testsupport;

import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

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

    /** The same database with tables of its own, for a store whose tables are others under the same names. */
    public PostgresService inSchema(String name) {
        try (Connection connection = DriverManager.getConnection(jdbcUrl, username, password);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA IF NOT EXISTS " + name);
        } catch (SQLException failed) {
            throw new IllegalStateException(failed);
        }
        String separator = jdbcUrl.contains("?") ? "&" : "?";
        return new PostgresService(jdbcUrl + separator + "currentSchema=" + name, username, password);
    }

    private URI uri() {
        return URI.create(jdbcUrl.substring("jdbc:".length()));
    }
}
