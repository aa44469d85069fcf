package io.writepath.web;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.writepath.json.PostRequest;
import io.writepath.post.Post;
import io.writepath.post.PostCursor;
import io.writepath.post.PostPage;
import io.writepath.post.PostReader;
import io.writepath.post.PostWriter;
import java.net.URI;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The HTTP contract of openapi.yaml, the same code for every write path; only the ports behind it differ. */
@RestController
@RequestMapping(path = "/api/posts", produces = MediaType.APPLICATION_JSON_VALUE)
class PostController {

    private static final String MILLISECONDS = "yyyy-MM-dd'T'HH:mm:ss.SSSX";

    private final PostWriter writer;
    private final PostReader reader;
    private final Clock clock;

    PostController(PostWriter writer, PostReader reader, Clock clock) {
        this.writer = writer;
        this.reader = reader;
        this.clock = clock;
    }

    /** Answers 201 only after the writer returned, so after the declared durability holds. */
    @PostMapping(consumes = MediaType.APPLICATION_JSON_VALUE)
    ResponseEntity<CreatedPost> create(@RequestBody PostRequest request) {
        Post post = writer.write(request.toPost(clock));
        return ResponseEntity.created(URI.create("/api/posts/" + post.id()))
                .body(new CreatedPost(post.id(), post.createdAt()));
    }

    @GetMapping("/{id}")
    FoundPost find(@PathVariable String id) {
        UUID known = PostRequest.parseId(id);
        return reader.find(known).map(FoundPost::of).orElseThrow(() -> new PostNotFoundException(known));
    }

    @GetMapping
    FoundPage search(@RequestParam MultiValueMap<String, String> query) {
        return FoundPage.of(SearchQuery.of(query).ask(reader));
    }

    record CreatedPost(
            UUID id,

            @JsonFormat(pattern = MILLISECONDS, timezone = "UTC")
            Instant createdAt) {}

    record FoundPost(
            UUID id,
            String content,

            @JsonFormat(pattern = MILLISECONDS, timezone = "UTC")
            Instant createdAt) {

        static FoundPost of(Post post) {
            return new FoundPost(post.id(), post.content(), post.createdAt());
        }
    }

    @JsonInclude(JsonInclude.Include.NON_NULL)
    record FoundPage(
            @Nullable Long total,
            List<FoundPost> posts,
            @Nullable String next) {

        static FoundPage of(PostPage page) {
            PostCursor next = page.next();
            return new FoundPage(
                    page.total(),
                    page.posts().stream().map(FoundPost::of).toList(),
                    next == null ? null : CursorText.of(next));
        }
    }
}
