package io.writepath.jpareader;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

@Entity
class Artist {

    @Id
    private Long id;

    private String name;

    /** For Hibernate, which fills the fields. */
    @SuppressWarnings("NullAway.Init")
    protected Artist() {}

    String name() {
        return name;
    }
}
