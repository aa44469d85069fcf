package io.writepath.store.elasticsearch;

import static io.writepath.post.PostBatchWriter.Outcome.ALREADY_STORED;
import static io.writepath.post.PostBatchWriter.Outcome.CONFLICTING;
import static io.writepath.post.PostBatchWriter.Outcome.REJECTED;
import static io.writepath.post.PostBatchWriter.Outcome.STORED;
import static io.writepath.store.elasticsearch.RunningStore.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.writepath.post.Post;
import io.writepath.post.StoreUnavailableException;
import io.writepath.post.StoredPost;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.ElasticsearchService;
import io.writepath.testsupport.TcpProxy;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class BatchWriterIntegrationTests {

    private final ElasticsearchService service = BackingServices.elasticsearch();

    @Test
    void everyPostOfABatchHasItsOwnOutcomeInOrder() {
        try (RunningStore store = RunningStore.startEmpty(service, "writepath.elasticsearch.shards=2")) {
            Post known = store.writer().write(post("known"));
            Post fresh = post("fresh");

            var outcomes = store.batchWriter()
                    .write(List.of(
                            known, fresh, post(known.id(), "other"), fresh, post(fresh.id(), "later"), post("last")));

            assertThat(outcomes)
                    .containsExactly(ALREADY_STORED, STORED, CONFLICTING, ALREADY_STORED, CONFLICTING, STORED);
            assertThat(store.stored().stream().map(StoredPost::content))
                    .containsExactlyInAnyOrder("known", "fresh", "last");
        }
    }

    @Test
    void aRedeliveredBatchStoresNothingTwice() {
        try (RunningStore store = RunningStore.startEmpty(service)) {
            List<Post> batch =
                    IntStream.range(0, 500).mapToObj(i -> post("post " + i)).toList();

            assertThat(store.batchWriter().write(batch)).isEqualTo(Collections.nCopies(500, STORED));
            assertThat(store.batchWriter().write(batch)).isEqualTo(Collections.nCopies(500, ALREADY_STORED));
            assertThat(store.inspector().count()).isEqualTo(500);
        }
    }

    @Test
    void aDocumentThatTheMappingRefusesIsRejectedAloneAndItsTextNotLogged(CapturedOutput output) throws IOException {
        try (RunningStore store = RunningStore.startEmpty(service)) {
            store.replaceIndexByOneForNumbers();

            assertThat(store.batchWriter().write(List.of(post("1"), post("no number"), post("3"))))
                    .containsExactly(STORED, REJECTED, STORED);
        }
        assertThat(output).doesNotContain("no number");
    }

    @Test
    void anUnreachableOrIncompleteStoreKeepsTheBatch() throws IOException {
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port());
                RunningStore store = RunningStore.startEmpty(service.through(proxy))) {
            proxy.cut();
            assertThatThrownBy(() -> store.batchWriter().write(List.of(post("unreachable"))))
                    .isInstanceOf(StoreUnavailableException.class);
            proxy.heal();
            store.deleteIndex();
            assertThatThrownBy(() -> store.batchWriter().write(List.of(post("no index"))))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("missing");
        }
    }
}
