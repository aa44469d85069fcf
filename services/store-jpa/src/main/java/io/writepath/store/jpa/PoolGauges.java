package io.writepath.store.jpa;

import com.zaxxer.hikari.HikariDataSource;
import io.writepath.post.Gauges;
import java.util.Map;

/** The pool's own figures, read without taking a connection from it. */
class PoolGauges implements Gauges {

    private final HikariDataSource pool;

    PoolGauges(HikariDataSource pool) {
        this.pool = pool;
    }

    @Override
    public Map<String, Double> read() {
        var figures = pool.getHikariPoolMXBean();
        if (figures == null) {
            return Map.of("pool_max", (double) pool.getMaximumPoolSize());
        }
        return Map.of(
                "pool_active", (double) figures.getActiveConnections(),
                "pool_idle", (double) figures.getIdleConnections(),
                "pool_waiting", (double) figures.getThreadsAwaitingConnection(),
                "pool_max", (double) pool.getMaximumPoolSize());
    }
}
