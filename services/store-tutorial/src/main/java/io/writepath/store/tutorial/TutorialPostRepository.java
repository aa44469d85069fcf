package io.writepath.store.tutorial;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.springframework.data.domain.Limit;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.Pageable;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Query;

interface TutorialPostRepository extends JpaRepository<TutorialPost, Long> {

    Optional<TutorialPost> findFirstByClientIdOrderByNumber(UUID clientId);

    Page<TutorialPost> findByContentContainingOrderByCreatedAtDescClientIdDesc(String keyword, Pageable page);

    @Query("""
            select p from TutorialPost p
            where locate(:keyword, p.content) > 0 and (p.createdAt, p.clientId) < (:createdAt, :id)
            order by p.createdAt desc, p.clientId desc
            """)
    List<TutorialPost> findFollowing(String keyword, Instant createdAt, UUID id, Limit limit);
}
