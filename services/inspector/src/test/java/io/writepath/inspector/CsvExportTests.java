package io.writepath.inspector;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.post.CommitInspector;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

class CsvExportTests {

    private static final UUID ID = UUID.fromString("0189aaaa-bbbb-8ccc-8ddd-eeeeeeeeeeee");

    private final StringWriter out = new StringWriter();

    /** The expected hash is what {@code printf '영화' | sha256sum | cut -c1-16} prints. */
    @Test
    void hashesTheContentAsUtf8() {
        assertThat(new CsvExport(out).hash("영화")).isEqualTo("1f0a9d32bbf42b6d");
    }

    @Test
    void writesAMomentInMicrosecondsAndAnUnknownOneAsNothing() {
        assertThat(CsvExport.microseconds(Instant.parse("1970-01-01T00:00:01.000002999Z")))
                .isEqualTo("1000002");
        assertThat(CsvExport.microseconds(null)).isEmpty();
    }

    @Test
    void writesCommitsAfterTheirHeader() {
        new CsvExport(out).commits(List.of(new OneCommit(ID, Instant.ofEpochSecond(2))));
        assertThat(out).hasToString("id,durable_at_us\n%s,2000000\n".formatted(ID));
    }

    private record OneCommit(UUID id, Instant moment) implements CommitInspector {

        @Override
        public void forEach(BiConsumer<UUID, Instant> consumer) {
            consumer.accept(id, moment);
        }

        @Override
        public void reset() {}
    }
}
