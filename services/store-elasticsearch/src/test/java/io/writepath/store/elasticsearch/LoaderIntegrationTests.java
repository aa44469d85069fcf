package io.writepath.store.elasticsearch;

import static io.writepath.store.elasticsearch.RunningStore.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.writepath.post.LoadRefusedException;
import io.writepath.post.Post;
import io.writepath.post.PostLoader;
import io.writepath.post.StoreSizes;
import io.writepath.post.StoreUnavailableException;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.ElasticsearchService;
import io.writepath.testsupport.TcpProxy;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LoaderIntegrationTests {

    private final ElasticsearchService service = BackingServices.elasticsearch();

    @AfterEach
    void leaveTheIndexAsOthersExpectIt() {
        RunningStore.startEmpty(service).close();
    }

    @ParameterizedTest
    @EnumSource
    void whatWasLoadedIsFoundOnceTheLoadIsFinishedWhicheverTheIndex(SearchIndex index) {
        try (RunningStore store =
                RunningStore.startEmpty(service, "writepath.elasticsearch.search-index=" + index.spelled())) {
            List<Post> posts = IntStream.range(0, PostLoader.POSTS_MAX)
                    .mapToObj(number -> post("영화 " + number))
                    .toList();
            store.loader().begin();
            store.loader().load(posts);
            store.loader().finish();

            assertThat(store.reader().search("영화", 0, 1).total()).isEqualTo(posts.size());
            assertThat(store.reader().find(posts.getLast().id())).contains(posts.getLast());
            StoreSizes.Sizes sizes = store.sizes();
            assertThat(sizes.documents()).isEqualTo(posts.size());
            assertThat(sizes.parts()).containsKeys(index.field(), "createdAt", "_id", "_source");
            assertThat(sizes.searchIndexBytes())
                    .isPositive()
                    .isLessThanOrEqualTo(sizes.parts().get(index.field()));
            assertThat(sizes.storeBytes())
                    .isGreaterThanOrEqualTo(sizes.parts().values().stream()
                            .mapToLong(Long::longValue)
                            .sum());
        }
    }

    @Test
    void betweenBeginAndFinishNothingIsRefreshedOrCopiedAndAfterwardsAllIsAsDeclared() {
        int replicas = service.nodes() - 1;
        try (RunningStore store = RunningStore.startEmpty(
                service,
                "writepath.elasticsearch.replicas=" + replicas,
                "writepath.elasticsearch.refresh-interval=500ms")) {
            store.loader().begin();
            store.loader().begin();
            assertThat(store.inspector().durability().settings())
                    .containsEntry("index.refresh_interval", "-1")
                    .containsEntry("index.number_of_replicas", "0");
            store.loader().load(List.of(post("영화")));
            PostLoader.Finished finished = store.loader().finish();
            assertThat(finished.buildSeconds()).isNull();
            assertThat(finished.settleSeconds()).isPositive();
            assertThat(store.inspector().durability().settings())
                    .containsEntry("index.refresh_interval", "500ms")
                    .containsEntry("index.number_of_replicas", Integer.toString(replicas))
                    .containsEntry("index.write.wait_for_active_shards", Integer.toString(service.nodes()));
            store.inspector().assertReady();
            assertThat(store.reader().search("영화", 0, 1).total()).isOne();
        }
    }

    @Test
    void aTakenIdIsRefusedByName() {
        try (RunningStore store = RunningStore.startEmpty(service)) {
            Post first = post("first");
            store.loader().load(List.of(first));
            assertThatThrownBy(() -> store.loader().load(List.of(post("good"), post(first.id(), "again"))))
                    .isInstanceOf(LoadRefusedException.class)
                    .hasMessageContaining(first.id().toString());
            assertThat(store.reader().find(first.id())).contains(first);
        }
    }

    @Test
    void aStoppedClusterIsUnavailable() {
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port());
                RunningStore store = RunningStore.startEmpty(service.through(proxy))) {
            proxy.cut();
            PostLoader loader = store.loader();
            List<Post> posts = List.of(post("unreachable"));
            assertThatThrownBy(loader::begin).isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> loader.load(posts)).isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(loader::finish).isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(store::sizes).isInstanceOf(StoreUnavailableException.class);
        }
    }
}
