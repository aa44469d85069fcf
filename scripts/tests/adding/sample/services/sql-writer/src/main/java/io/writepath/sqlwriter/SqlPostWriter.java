package io.writepath.sqlwriter;

import io.writepath.post.Post;
import io.writepath.post.PostBatchWriter;
import io.writepath.post.PostConflictException;
import io.writepath.post.PostReader;
import io.writepath.post.PostWriter;
import io.writepath.post.StoreUnavailableException;
import java.util.List;
import org.springframework.stereotype.Component;

/** The one bean that a new write path must bring. */
@Component
class SqlPostWriter implements PostWriter {

    private final PostBatchWriter rows;
    private final PostReader reader;

    SqlPostWriter(PostBatchWriter rows, PostReader reader) {
        this.rows = rows;
        this.reader = reader;
    }

    @Override
    public Post write(Post post) {
        return switch (rows.write(List.of(post)).getFirst()) {
            case STORED -> post;
            case ALREADY_STORED -> reader.find(post.id()).orElse(post);
            case CONFLICTING -> throw new PostConflictException(post.id());
            case REJECTED -> throw new StoreUnavailableException("the store refused the row");
        };
    }
}
