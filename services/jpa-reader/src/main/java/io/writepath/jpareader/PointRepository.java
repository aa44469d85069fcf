package io.writepath.jpareader;

import org.jspecify.annotations.Nullable;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

interface PointRepository extends Repository<Point, Long> {

    /** Null of a user without points. */
    @Query("select sum(p.amount) from Point p where p.userId = ?1")
    @Nullable
    Long sum(long user);
}
