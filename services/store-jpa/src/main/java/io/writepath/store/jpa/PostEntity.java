package io.writepath.store.jpa;

import io.writepath.post.Post;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.PostLoad;
import jakarta.persistence.PostPersist;
import jakarta.persistence.Table;
import jakarta.persistence.Transient;
import java.time.Instant;
import java.util.UUID;
import org.springframework.data.domain.Persistable;

/**
 * A post as a row. It says itself whether it is new: Spring Data would take an entity that has its id already for an
 * old one and ask the database first, which doubles the statements of every write.
 */
@Entity
@Table(name = "posts")
class PostEntity implements Persistable<UUID> {

    @Id
    private UUID id;

    @Column(nullable = false, updatable = false)
    private String content;

    @Column(name = "created_at", nullable = false, updatable = false)
    private Instant createdAt;

    @Transient
    private boolean stored;

    /** For Hibernate, which fills the fields. */
    @SuppressWarnings("NullAway.Init")
    protected PostEntity() {}

    PostEntity(Post post) {
        this.id = post.id();
        this.content = post.content();
        this.createdAt = post.createdAt();
    }

    Post toPost() {
        return new Post(id, content, createdAt);
    }

    @Override
    public UUID getId() {
        return id;
    }

    @Override
    public boolean isNew() {
        return !stored;
    }

    @PostPersist
    @PostLoad
    void markStored() {
        stored = true;
    }
}
