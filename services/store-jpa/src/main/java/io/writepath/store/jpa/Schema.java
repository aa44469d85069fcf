package io.writepath.store.jpa;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.util.List;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;

/**
 * Makes the table and its search index at the start, over a connection of its own: an index over many posts takes
 * longer than any request may wait.
 */
final class Schema extends DataSourceScriptDatabaseInitializer {

    private final HikariDataSource connection;

    Schema(HikariDataSource pool, SearchIndex index) {
        this(patient(pool), settings(index));
    }

    private Schema(HikariDataSource connection, DatabaseInitializationSettings settings) {
        super(connection, settings);
        this.connection = connection;
    }

    private static HikariDataSource patient(HikariDataSource pool) {
        HikariConfig config = PostgresLoader.patient(pool);
        config.setPoolName("schema");
        config.setInitializationFailTimeout(pool.getInitializationFailTimeout());
        return new HikariDataSource(config);
    }

    private static DatabaseInitializationSettings settings(SearchIndex index) {
        DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
        settings.setSchemaLocations(List.of(
                "classpath:io/writepath/store/jpa/schema.sql",
                "classpath:" + index.script().getPath()));
        settings.setMode(DatabaseInitializationMode.ALWAYS);
        return settings;
    }

    @Override
    public boolean initializeDatabase() {
        try {
            return super.initializeDatabase();
        } finally {
            connection.close();
        }
    }
}
