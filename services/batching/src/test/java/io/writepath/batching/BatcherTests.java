package io.writepath.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.testsupport.Metrics;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class BatcherTests {

    private final List<Sent> sent = new ArrayList<>();
    private final Batcher<String, String> batcher = new Batcher<>("bulk", "documents", 1, this::take);

    @Test
    void aLoneItemGoesOutAtOnceAndWhatArrivesMeanwhileGoesOutTogether() {
        CompletableFuture<String> a = send("a");
        CompletableFuture<String> b = send("b");
        CompletableFuture<String> c = send("c");
        assertThat(sent).extracting(Sent::items).containsExactly(List.of("a"));
        assertThat(Metrics.of(batcher)).containsEntry("bulk_queued", 2.0).containsEntry("bulks_in_flight", 1.0);

        sent.getFirst().outcomes().complete(List.of("a stored"));
        assertThat(a).isCompletedWithValue("a stored");
        assertThat(sent).extracting(Sent::items).containsExactly(List.of("a"), List.of("b", "c"));
        assertThat(b).isNotDone();

        sent.getLast().outcomes().complete(List.of("b taken", "c stored"));
        assertThat(b).isCompletedWithValue("b taken");
        assertThat(c).isCompletedWithValue("c stored");
        assertThat(Metrics.of(batcher))
                .containsEntry("bulk_queued", 0.0)
                .containsEntry("bulks_in_flight", 0.0)
                .containsEntry("bulks_in_flight_max", 1.0)
                .containsEntry("bulks_sent", 2.0)
                .containsEntry("bulk_documents_mean", 1.5);
    }

    @Test
    void anItemWhoseCallerGaveUpWhileItWaitedIsNotSent() {
        arrive("a");
        send("b").cancel(false);
        arrive("c");
        sent.getFirst().outcomes().complete(List.of("a stored"));
        assertThat(sent.getLast().items()).containsExactly("c");
    }

    @Test
    void whereAllGaveUpTheSlotIsGivenBack() {
        arrive("a");
        send("b").cancel(false);
        sent.getFirst().outcomes().complete(List.of("a stored"));
        arrive("c");
        assertThat(sent).extracting(Sent::items).containsExactly(List.of("a"), List.of("c"));
    }

    @Test
    void aBatchThatFailsFailsEachOfItsItemsAndNoOther() {
        arrive("a");
        CompletableFuture<String> b = send("b");
        CompletableFuture<String> c = send("c");
        sent.getFirst().outcomes().complete(List.of("a stored"));
        CompletableFuture<String> d = send("d");
        sent.getLast().outcomes().completeExceptionally(new IllegalStateException("gone"));
        assertThat(b).isCompletedExceptionally();
        assertThat(c).isCompletedExceptionally();
        sent.getLast().outcomes().complete(List.of("d stored"));
        assertThat(d).isCompletedWithValue("d stored");
    }

    @Test
    void aBatchThatCannotBeSentFailsAndTheNextOneGoesOut() {
        Batcher<String, String> refusing = new Batcher<>("bulk", "documents", 1, items -> {
            if (items.contains("bad")) {
                throw new IllegalStateException("unsendable");
            }
            return CompletableFuture.completedFuture(items);
        });
        CompletableFuture<String> bad = new CompletableFuture<>();
        CompletableFuture<String> good = new CompletableFuture<>();
        assertThat(refusing.send("bad", bad)).isTrue();
        assertThat(refusing.send("good", good)).isTrue();
        assertThat(bad).isCompletedExceptionally();
        assertThat(good).isCompletedWithValue("good");
    }

    @Test
    void aFullQueueTakesNothingMore() {
        for (int number = 0; number <= 10_000; number++) {
            arrive("item " + number); // one in flight, the others wait
        }
        CompletableFuture<String> refused = new CompletableFuture<>();
        assertThat(batcher.send("too many", refused)).isFalse();
        assertThat(refused).isNotDone();
        sent.getFirst().outcomes().complete(List.of("stored"));
        assertThat(sent.getLast().items()).hasSize(500);
        assertThat(batcher.send("next", refused)).isTrue();
    }

    private void arrive(String item) {
        assertThat(batcher.send(item, new CompletableFuture<>())).isTrue();
    }

    private CompletableFuture<String> send(String item) {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        assertThat(batcher.send(item, outcome)).isTrue();
        return outcome;
    }

    private CompletableFuture<List<String>> take(List<String> items) {
        Sent batch = new Sent(items, new CompletableFuture<>());
        sent.add(batch);
        return batch.outcomes();
    }

    private record Sent(List<String> items, CompletableFuture<List<String>> outcomes) {}
}
