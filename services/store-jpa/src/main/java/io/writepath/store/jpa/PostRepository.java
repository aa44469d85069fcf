package io.writepath.store.jpa;

import java.util.UUID;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.Pageable;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Query;

interface PostRepository extends JpaRepository<PostEntity, UUID> {

    @Query("select p from PostEntity p where p.content like :pattern escape '!' order by p.createdAt desc, p.id desc")
    Page<PostEntity> findByContentLike(String pattern, Pageable page);
}
