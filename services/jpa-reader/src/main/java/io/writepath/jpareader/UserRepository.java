package io.writepath.jpareader;

import java.util.List;
import java.util.Optional;
import org.springframework.data.domain.Pageable;
import org.springframework.data.repository.Repository;

/** Lists, not pages: a page that is not full would save its count. */
interface UserRepository extends Repository<User, Long> {

    Optional<User> findByName(String name);

    List<User> findAllBy(Pageable page);

    long count();

    List<User> findByNameContaining(String text, Pageable page);

    long countByNameContaining(String text);
}
