package io.writepath.store.jpa;

import java.util.UUID;
import org.springframework.data.jpa.repository.JpaRepository;

interface PostRepository extends JpaRepository<PostEntity, UUID> {}
