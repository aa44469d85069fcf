package io.writepath.jpareader;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;

@Entity
class Point {

    @Id
    private Long id;

    @Column
    private Long userId;

    @Column
    private int amount;

    /** For Hibernate, which fills the fields. */
    @SuppressWarnings("NullAway.Init")
    protected Point() {}
}
