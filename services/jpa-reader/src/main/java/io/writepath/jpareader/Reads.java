package io.writepath.jpareader;

import io.writepath.store.jpa.PostgresAvailability;
import java.util.function.Supplier;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** All queries of a request in one read-only transaction, so over one connection of the pool. */
@Component
class Reads {

    private final PostgresAvailability postgres;
    private final TransactionTemplate transaction;

    Reads(PostgresAvailability postgres, PlatformTransactionManager transactions) {
        this.postgres = postgres;
        this.transaction = new TransactionTemplate(transactions);
        this.transaction.setReadOnly(true);
    }

    /** Throws {@link io.writepath.post.StoreUnavailableException} when there is no connection in time. */
    <T> T of(Supplier<T> queries) {
        return postgres.ask(() -> transaction.execute(status -> queries.get()));
    }
}
