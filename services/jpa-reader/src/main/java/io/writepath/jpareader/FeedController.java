package io.writepath.jpareader;

import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Five random exhibitions with their artworks: 6 or 2 statements, see {@link FeedSettings.Strategy}. */
@RestController
class FeedController {

    private final Feed feed;
    private final Reads reads;

    FeedController(Feed feed, Reads reads) {
        this.feed = feed;
        this.reads = reads;
    }

    @GetMapping(path = "/api/feed", produces = MediaType.APPLICATION_JSON_VALUE)
    Exhibitions feed() {
        return new Exhibitions(reads.of(feed::show));
    }

    record Exhibitions(List<Feed.Shown> exhibitions) {}
}
