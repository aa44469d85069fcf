package io.writepath.jpareader;

import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import java.util.List;

/**
 * With what a feed is spared to look up elsewhere: its author's name, whether anything is for sale, its artworks' ids.
 */
@Entity
class Exhibition {

    @Id
    private Long id;

    private String title;

    @ManyToOne(fetch = FetchType.LAZY)
    private Artist artist;

    private String authorName;
    private boolean sale;
    private Long[] artworkIds;

    /** For Hibernate, which fills the fields. */
    @SuppressWarnings("NullAway.Init")
    protected Exhibition() {}

    long id() {
        return id;
    }

    String title() {
        return title;
    }

    /** To be called where it was fetched along: else it costs a statement. */
    Artist artist() {
        return artist;
    }

    String authorName() {
        return authorName;
    }

    boolean isSale() {
        return sale;
    }

    List<Long> artworkIds() {
        return List.of(artworkIds);
    }
}
