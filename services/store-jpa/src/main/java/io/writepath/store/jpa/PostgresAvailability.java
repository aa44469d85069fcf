package io.writepath.store.jpa;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.writepath.post.PostConflictException;
import io.writepath.post.StoreUnavailableException;
import jakarta.persistence.PersistenceException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * Tells a database that cannot serve now from a request it refuses. Only SQL states of refused data (class 22 and 23)
 * and of wrong statements (class 42) are the request's or our own fault; a lost connection, a server that starts,
 * recovers, is full or read-only, and a pool without a free connection are not.
 */
public final class PostgresAvailability implements MeterBinder {

    private static final Logger log = LoggerFactory.getLogger(PostgresAvailability.class);
    private static final String QUERY_CANCELED = "57014";

    private final AtomicBoolean answering = new AtomicBoolean(true);
    private final LongAdder poolTimeouts = new LongAdder();
    private final LongAdder failures = new LongAdder();

    /** Asks the database; throws {@link StoreUnavailableException} when it cannot serve. */
    public <T> T ask(Supplier<T> question) {
        try {
            T answer = question.get();
            noteAnswer();
            return answer;
        } catch (PostConflictException refused) {
            noteAnswer();
            throw refused;
        } catch (DataAccessException | TransactionException | PersistenceException failed) {
            // PersistenceException: plain JDBC inside a transaction of JPA takes its connection from Hibernate, and
            // nothing translates what that throws.
            if (isRefusal(failed)) {
                throw failed;
            }
            throw unavailable(failed);
        }
    }

    /** Whether the database answered and refuses what it was asked, so that asking again cannot help. */
    static boolean isRefusal(RuntimeException failed) {
        SQLException cause = sqlCause(failed);
        String state = cause == null ? null : cause.getSQLState();
        return state != null && (state.startsWith("22") || state.startsWith("23") || state.startsWith("42"));
    }

    /** Whether it is the data that it refuses, not the statement: a missing table is no post's fault. */
    static boolean isBadData(RuntimeException failed) {
        SQLException cause = sqlCause(failed);
        String state = cause == null ? null : cause.getSQLState();
        return state != null && (state.startsWith("22") || state.startsWith("23"));
    }

    private StoreUnavailableException unavailable(RuntimeException failed) {
        SQLException cause = sqlCause(failed);
        (isPoolTimeout(cause) ? poolTimeouts : failures).increment();
        String reason = reason(cause);
        if (answering.getAndSet(false)) {
            // No stack trace: a database that comes back answers some requests and not others, and each change is a
            // line. Traces would cost a starting application the processor it needs to recover.
            log.warn(
                    "PostgreSQL cannot serve: {} ({})",
                    reason,
                    NestedExceptionUtils.getMostSpecificCause(failed).toString());
        }
        return new StoreUnavailableException("PostgreSQL cannot serve: " + reason, failed);
    }

    private void noteAnswer() {
        if (!answering.get() && answering.compareAndSet(false, true)) {
            log.info("PostgreSQL serves again");
        }
    }

    /** Where the pool could not connect, the database's own failure is inside: that is no lack of connections. */
    private static boolean isPoolTimeout(@Nullable SQLException cause) {
        return cause instanceof SQLTransientConnectionException;
    }

    /** Questions that were not answered, by cause. */
    @Override
    public void bindTo(MeterRegistry registry) {
        FunctionCounter.builder("writepath.pool.timeouts", poolTimeouts, LongAdder::sum)
                .register(registry);
        FunctionCounter.builder("writepath.store.failures", failures, LongAdder::sum)
                .register(registry);
    }

    private static String reason(@Nullable SQLException cause) {
        if (isPoolTimeout(cause)) {
            return "no connection from the pool in time";
        }
        String state = cause == null ? null : cause.getSQLState();
        if (QUERY_CANCELED.equals(state)) {
            return "it did not answer in time";
        }
        return switch (state == null || state.length() < 2 ? "" : state.substring(0, 2)) {
            case "25" -> "it is read-only";
            case "53" -> "it is out of resources";
            case "57" -> "it is starting, stopping or recovering";
            default -> "the connection failed";
        };
    }

    private static @Nullable SQLException sqlCause(Throwable failed) {
        SQLException innermost = null; // the pool wraps what the database said
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql) {
                innermost = sql;
            }
        }
        return innermost;
    }
}
