package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.FieldValue;
import co.elastic.clients.elasticsearch._types.ShardStatistics;
import co.elastic.clients.elasticsearch._types.SortOrder;
import co.elastic.clients.elasticsearch.core.CountResponse;
import co.elastic.clients.elasticsearch.core.SearchRequest;
import co.elastic.clients.elasticsearch.core.SearchResponse;
import co.elastic.clients.elasticsearch.core.search.Hit;
import io.writepath.post.Post;
import io.writepath.post.PostCursor;
import io.writepath.post.PostPage;
import io.writepath.post.PostReader;
import io.writepath.post.StoreUnavailableException;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Pages of a search in the order of {@link PostCursor}, of which Elasticsearch can give the first half: it sorts by
 * {@code createdAt}. What orders the posts of one millisecond, the id, is in no field that it sorts by: a copy of it in
 * doc values would be paid for by every write, fielddata of {@code _id} would take heap for each post, {@code _seq_no}
 * counts in each shard by itself, and {@code _shard_doc} holds for one point in time. So ids are put in order here. A
 * millisecond that lies across the edge of a page is read whole, which costs requests of its own; other pages take one.
 */
final class SearchPages {

    private static final String MOMENT = "createdAt";

    private final ElasticsearchClient client;
    private final DocumentStream documents;

    SearchPages(ElasticsearchClient client) {
        this.client = client;
        this.documents = new DocumentStream(client);
    }

    /**
     * One hit.
     *
     * @param document tells apart two documents of one post, which automatic ids allow
     */
    private record Found(Post post, String document) implements Comparable<Found> {

        private static final Comparator<Found> ORDER =
                Comparator.comparing((Found found) -> PostCursor.of(found.post)).thenComparing(Found::document);

        static Found of(Hit<PostDocument> hit) {
            return new Found(PostDocument.toPost(hit), Objects.requireNonNull(hit.id(), "every hit has an _id"));
        }

        long millisecond() {
            return post.createdAt().toEpochMilli();
        }

        boolean follows(@Nullable PostCursor place) {
            return place == null || PostCursor.of(post).compareTo(place) > 0;
        }

        @Override
        public int compareTo(Found other) {
            return ORDER.compare(this, other);
        }
    }

    /**
     * The page behind the first so many posts. One hit more is asked for at either end: it shows whether the
     * millisecond at that edge goes on beyond it.
     */
    PostPage page(Sought sought, int from, int size) throws IOException {
        int lead = from == 0 ? 0 : 1;
        int wanted = Math.min(lead + size + 1, PostReader.WINDOW_POSTS - (from - lead));
        SearchResponse<PostDocument> answer = ask(
                sought, search -> search.from(from - lead).size(wanted).trackTotalHits(total -> total.enabled(true)));
        long total = Objects.requireNonNull(answer.hits().total(), "the request asks for it")
                .value();
        List<Found> hits = found(answer);
        if (hits.size() <= lead) {
            return new PostPage(total, List.of(), null);
        }
        long first = hits.get(lead).millisecond();
        long last = hits.get(Math.min(lead + size, hits.size()) - 1).millisecond();
        SortedSet<Found> ordered = new TreeSet<>(hits);
        int skipped = lead;
        boolean begun = lead == 1 && hits.getFirst().millisecond() == first;
        if (begun) {
            ordered.addAll(millisecond(sought, first, null, from + size));
            skipped = (int) Math.max(0, from - newer(sought, first));
        }
        boolean known = begun && last == first;
        if (!known && goesOn(hits, lead + size, from - lead + hits.size() < total)) {
            ordered.addAll(millisecond(sought, last, null, from + size));
        }
        List<Post> posts =
                ordered.stream().skip(skipped).limit(size).map(Found::post).toList();
        boolean more = !posts.isEmpty() && from + posts.size() < total;
        return new PostPage(total, posts, more ? PostCursor.of(posts.getLast()) : null);
    }

    /** Whether the last millisecond of a page may have posts beyond it. At the window's end nothing shows it. */
    private static boolean goesOn(List<Found> hits, int end, boolean more) {
        return hits.size() > end
                ? hits.get(end).millisecond() == hits.get(end - 1).millisecond()
                : more;
    }

    /**
     * What follows a place. Asked for are the posts of its millisecond and older ones; of those that follow it, the
     * ones newer than the last hit are known to be all there are. Where they fill the page, the last hit shows that
     * more follow.
     */
    PostPage after(Sought sought, PostCursor place, int size) throws IOException {
        SortedSet<Found> following = new TreeSet<>();
        long edge = place.createdAt().toEpochMilli() + 1;
        boolean more = true;
        while (more && following.size() <= size) {
            int wanted = size + 2 - following.size();
            List<Found> hits = older(sought, edge, wanted);
            more = hits.size() == wanted;
            edge = more ? hits.getLast().millisecond() : Long.MIN_VALUE;
            for (Found hit : hits) {
                if (hit.millisecond() > edge && hit.follows(place)) {
                    following.add(hit);
                }
            }
            if (more) {
                following.addAll(
                        following.size() < size ? millisecond(sought, edge, place, size + 1) : List.of(hits.getLast()));
            }
        }
        return PostPage.of(null, following.stream().map(Found::post).toList(), size);
    }

    private List<Found> older(Sought sought, long edge, int size) throws IOException {
        return found(ask(sought, search -> search.searchAfter(FieldValue.of(edge))
                .size(size)
                .trackTotalHits(total -> total.enabled(false))));
    }

    /** The first so many posts of one millisecond that follow a place. All are read, in no order; few are kept. */
    private SortedSet<Found> millisecond(Sought sought, long moment, @Nullable PostCursor place, int limit)
            throws IOException {
        TreeSet<Found> kept = new TreeSet<>();
        String only = Long.toString(moment);
        documents.forEach(sought.within(MOMENT, range -> range.gte(only).lte(only)), hit -> {
            Found found = Found.of(hit);
            if (found.follows(place)) {
                kept.add(found);
            }
            if (kept.size() > limit) {
                kept.pollLast();
            }
        });
        return kept;
    }

    private long newer(Sought sought, long moment) throws IOException {
        Sought newer = sought.within(MOMENT, range -> range.gt(Long.toString(moment)));
        CountResponse counted = client.count(
                count -> count.index(PostIndex.ALIAS).query(newer.query()).preference(newer.copies()));
        assertWhole(counted.shards());
        return counted.count();
    }

    private SearchResponse<PostDocument> ask(Sought sought, UnaryOperator<SearchRequest.Builder> search)
            throws IOException {
        SearchRequest request = SearchRequest.of(any -> search.apply(any)
                .index(PostIndex.ALIAS)
                .query(sought.query())
                .preference(sought.copies())
                .sort(sort -> sort.field(field -> field.field(MOMENT).order(SortOrder.Desc))));
        SearchResponse<PostDocument> found = client.search(request, PostDocument.class);
        if (found.timedOut()) {
            throw new StoreUnavailableException("Elasticsearch could not search every shard in time");
        }
        assertWhole(found.shards());
        return found;
    }

    private static void assertWhole(ShardStatistics shards) {
        if (shards.failed().intValue() > 0) {
            throw new StoreUnavailableException("Elasticsearch could not search every shard");
        }
    }

    private static List<Found> found(SearchResponse<PostDocument> answer) {
        return answer.hits().hits().stream().map(Found::of).toList();
    }
}
