package io.writepath.jpareader;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.hibernate.resource.jdbc.spi.StatementInspector;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Counts what goes to the database: each statement where Hibernate sends it, and the rows that it gave back. */
@Component
class SqlCounters implements StatementInspector, MeterBinder {

    private static final long serialVersionUID = 1L;

    private final LongAdder statements = new LongAdder();
    private final LongAdder rows = new LongAdder();

    @Override
    public String inspect(String sql) {
        statements.increment();
        return sql;
    }

    /** The rows of one statement. */
    <T> List<T> rows(List<T> found) {
        rows.add(found.size());
        return found;
    }

    /** The one row of an aggregate. */
    <T extends @Nullable Object> T row(T value) {
        rows.increment();
        return value;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        FunctionCounter.builder("writepath.sql.statements", statements, LongAdder::sum)
                .register(registry);
        FunctionCounter.builder("writepath.sql.rows", rows, LongAdder::sum).register(registry);
    }
}
