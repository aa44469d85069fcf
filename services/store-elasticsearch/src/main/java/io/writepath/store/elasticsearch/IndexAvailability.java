package io.writepath.store.elasticsearch;

import io.writepath.post.StoreUnavailableException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs a change between serving and not serving once; under overload the single failures come by the thousand. */
final class IndexAvailability {

    private static final Logger log = LoggerFactory.getLogger(IndexAvailability.class);

    private final AtomicBoolean serving = new AtomicBoolean(true);

    void noteAnswer() {
        if (!serving.get() && serving.compareAndSet(false, true)) {
            log.info("Elasticsearch serves again");
        }
    }

    StoreUnavailableException unavailable(String reason) {
        if (serving.getAndSet(false)) {
            log.warn("Elasticsearch cannot serve: {}", reason);
        }
        return new StoreUnavailableException(reason);
    }
}
