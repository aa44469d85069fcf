package io.writepath.jpareader;

import static java.util.stream.Collectors.groupingBy;

import jakarta.persistence.EntityManager;
import jakarta.persistence.TypedQuery;
import java.util.List;
import java.util.Map;
import org.springframework.stereotype.Component;

/** Random exhibitions with their artworks, by the queries of one strategy. */
@Component
class Feed {

    static final int PARENTS = 5;

    private final EntityManager entities;
    private final ArtworkRepository artworks;
    private final FeedSettings settings;
    private final SqlCounters counters;

    Feed(EntityManager entities, ArtworkRepository artworks, FeedSettings settings, SqlCounters counters) {
        this.entities = entities;
        this.artworks = artworks;
        this.settings = settings;
        this.counters = counters;
    }

    /** Within a transaction. */
    List<Shown> show() {
        List<Exhibition> parents = counters.rows(parents());
        return switch (settings.strategy()) {
            case PER_PARENT ->
                parents.stream().map(parent -> joined(parent, ofParent(parent))).toList();
            case BY_KEY ->
                parents.stream()
                        .map(parent -> joined(parent, byKey(parent.artworkIds())))
                        .toList();
            case DENORMALISED ->
                parents.stream()
                        .map(parent -> copied(parent, byKey(parent.artworkIds())))
                        .toList();
            case TWO_QUERIES -> inTwoQueries(parents);
        };
    }

    private List<Shown> inTwoQueries(List<Exhibition> parents) {
        List<Long> ids =
                parents.stream().flatMap(parent -> parent.artworkIds().stream()).toList();
        Map<Long, List<Artwork>> children = byKey(ids).stream().collect(groupingBy(Artwork::exhibitionId));
        return parents.stream()
                .map(parent -> copied(parent, children.getOrDefault(parent.id(), List.of())))
                .toList();
    }

    private List<Exhibition> parents() {
        String from =
                "select e from Exhibition e" + (settings.strategy().joinsTheAuthor() ? " join fetch e.artist" : "");
        TypedQuery<Exhibition> query = settings.choice().isEmpty()
                ? entities.createQuery(from + " order by random()", Exhibition.class)
                        .setMaxResults(PARENTS)
                : entities.createQuery(from + " where e.id in :choice order by e.id", Exhibition.class)
                        .setParameter("choice", settings.choice());
        return query.getResultList();
    }

    private List<Artwork> ofParent(Exhibition parent) {
        return counters.rows(artworks.findByExhibitionIdOrderById(parent.id()));
    }

    private List<Artwork> byKey(List<Long> ids) {
        return counters.rows(artworks.findByIdInOrderById(ids));
    }

    /** With what other tables say. */
    private static Shown joined(Exhibition parent, List<Artwork> children) {
        return shown(parent, parent.artist().name(), parent.isSale(), children);
    }

    /** Of the parent and its children alone. */
    private static Shown copied(Exhibition parent, List<Artwork> children) {
        return shown(parent, parent.authorName(), children.stream().anyMatch(Artwork::isForSale), children);
    }

    private static Shown shown(Exhibition parent, String author, boolean isSale, List<Artwork> children) {
        List<ShownArtwork> shown = children.stream()
                .map(child -> new ShownArtwork(child.id(), child.title(), child.isForSale()))
                .toList();
        return new Shown(parent.id(), parent.title(), author, isSale, shown);
    }

    record Shown(long id, String title, String author, boolean isSale, List<ShownArtwork> artworks) {}

    record ShownArtwork(long id, String title, boolean forSale) {}
}
