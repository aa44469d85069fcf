package io.writepath.jpareader;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

@Entity
class Artwork {

    @Id
    private Long id;

    private Long exhibitionId;
    private String title;
    private boolean forSale;

    /** For Hibernate, which fills the fields. */
    @SuppressWarnings("NullAway.Init")
    protected Artwork() {}

    long id() {
        return id;
    }

    long exhibitionId() {
        return exhibitionId;
    }

    String title() {
        return title;
    }

    boolean isForSale() {
        return forSale;
    }
}
