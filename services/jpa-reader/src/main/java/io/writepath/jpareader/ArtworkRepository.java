package io.writepath.jpareader;

import java.util.Collection;
import java.util.List;
import org.springframework.data.repository.Repository;

interface ArtworkRepository extends Repository<Artwork, Long> {

    List<Artwork> findByExhibitionIdOrderById(long exhibition);

    List<Artwork> findByIdInOrderById(Collection<Long> ids);
}
