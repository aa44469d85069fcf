package io.writepath.jpareader;

import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.RunningApplication;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.function.Supplier;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/** The application as it is deployed, on little data and a schema that a test may change. */
final class RunningReader extends RunningApplication {

    static final int USERS = 50;
    static final int POINTS = 1_000;
    static final int EXHIBITIONS = 40;

    RunningReader(PostgresService postgres, String... settings) {
        super(
                JpaReader.class,
                postgres,
                Stream.concat(
                                Stream.of(
                                        "--writepath.reader.users=" + USERS,
                                        "--writepath.reader.points=" + POINTS,
                                        "--writepath.reader.exhibitions=" + EXHIBITIONS),
                                Arrays.stream(settings))
                        .toArray(String[]::new));
    }

    /** A schema without tables. */
    static PostgresService fresh(String schema) {
        run(BackingServices.postgres(), "DROP SCHEMA IF EXISTS " + schema + " CASCADE");
        return BackingServices.postgres().inSchema(schema);
    }

    static Connection connect(PostgresService postgres) throws SQLException {
        return DriverManager.getConnection(postgres.jdbcUrl(), postgres.username(), postgres.password());
    }

    static void run(PostgresService postgres, String sql) {
        try (Connection connection = connect(postgres);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException failed) {
            throw new IllegalStateException(failed);
        }
    }

    static long number(PostgresService postgres, String query) {
        try (Connection connection = connect(postgres);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException failed) {
            throw new IllegalStateException(failed);
        }
    }

    HttpResponse<String> logIn(String name, String password) {
        return post("/api/sessions", "{\"name\":\"%s\",\"password\":\"%s\"}".formatted(name, password));
    }

    String token() {
        return new JsonMapper()
                .readTree(logIn("user-17", "password-17").body())
                .get("token")
                .asString();
    }

    HttpRequest.Builder bearing(String token, String path) {
        return request(path).header("Authorization", "Bearer " + token);
    }

    /** What this is counted to have cost. */
    Cost costOf(Runnable requests) {
        Supplier<Cost> now = () -> new Cost(
                metric("writepath_sql_statements_total"),
                metric("writepath_sql_rows_total"),
                metric("writepath_read_requests_total"));
        Cost before = now.get();
        requests.run();
        Cost after = now.get();
        return new Cost(
                after.statements() - before.statements(),
                after.rows() - before.rows(),
                after.requests() - before.requests());
    }

    record Cost(double statements, double rows, double requests) {}
}
