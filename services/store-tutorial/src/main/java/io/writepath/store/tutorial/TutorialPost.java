package io.writepath.store.tutorial;

import io.writepath.post.Post;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A post whose key the database makes. The client's id is a column like any other, there so that the harness finds the
 * row again; nothing says that it is unique.
 */
@Entity
@Table(name = "posts")
public class TutorialPost {

    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private @Nullable Long number;

    @Column(name = "id", nullable = false)
    private UUID clientId;

    @Column(nullable = false)
    private String content;

    @Column(name = "created_at", nullable = false)
    private Instant createdAt;

    /** For Hibernate, which fills the fields. */
    @SuppressWarnings("NullAway.Init")
    protected TutorialPost() {}

    TutorialPost(Post post) {
        this.clientId = post.id();
        this.content = post.content();
        this.createdAt = post.createdAt();
    }

    Post toPost() {
        return new Post(clientId, content, createdAt);
    }

    public @Nullable Long getNumber() {
        return number;
    }
}
