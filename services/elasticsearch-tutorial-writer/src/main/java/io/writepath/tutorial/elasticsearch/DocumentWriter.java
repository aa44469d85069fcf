package io.writepath.tutorial.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.Refresh;
import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import io.writepath.store.elasticsearch.CommitRecorder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;

/** Indexes one document a request, whatever else is under way. */
final class DocumentWriter implements PostWriter {

    private static final String INDEX = "posts";

    private final ElasticsearchClient client;
    private final Refresh refresh;
    private final CommitRecorder commits;

    DocumentWriter(ElasticsearchClient client, Refresh refresh, CommitRecorder commits) {
        this.client = client;
        this.refresh = refresh;
        this.commits = commits;
    }

    /** A document with the id of an earlier one takes its place. */
    @Override
    public Post write(Post post) {
        try {
            client.index(request -> request.index(INDEX)
                    .id(post.id().toString())
                    .document(new Document(post.content(), post.createdAt().toEpochMilli()))
                    .refresh(refresh));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        commits.record(post.id(), Instant.now());
        return post;
    }

    record Document(String content, long createdAt) {}
}
