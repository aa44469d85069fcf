package io.writepath.inspector;

import io.writepath.json.PostLines;
import io.writepath.post.Durability;
import io.writepath.post.Post;
import io.writepath.post.PostLoader;
import io.writepath.post.StoreSizes;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What the harness asks of a write path beside health, info and metrics, which are Actuator's. */
@RestController
@ConditionalOnBean(Inspection.class)
@RequestMapping("/inspector")
class InspectorController {

    private static final int BUFFER_BYTES = 1 << 16;

    private final Inspection inspection;
    private final PostLines lines = new PostLines();

    InspectorController(Inspection inspection) {
        this.inspection = inspection;
    }

    @GetMapping("/count")
    Map<String, Long> count() {
        return Map.of("count", inspection.store().count());
    }

    @PostMapping("/reset")
    Map<String, Long> reset() {
        inspection.reset();
        return count();
    }

    @GetMapping("/pending")
    Map<String, Long> pending() {
        return inspection.pending();
    }

    @GetMapping("/durability")
    Durability durability() {
        return inspection.durability();
    }

    /** Of the posts asked for, those a search finds now. */
    @GetMapping("/visible")
    Map<String, Object> visible(@RequestParam List<UUID> ids) {
        return Map.of("visible", inspection.store().visible(ids));
    }

    @GetMapping("/posts")
    void posts(HttpServletResponse response) throws IOException {
        export(response, export -> export.posts(inspection.store()));
    }

    @GetMapping("/commits")
    void commits(HttpServletResponse response) throws IOException {
        export(response, export -> export.commits(inspection.commits()));
    }

    /**
     * The status goes out with the first buffer, so that a store that fails before is still a 503. An answer whose end
     * is missing (no final chunk) tells the reader that the export broke off.
     */
    private static void export(HttpServletResponse response, Consumer<CsvExport> export) throws IOException {
        response.setContentType("text/csv; charset=utf-8");
        response.setBufferSize(BUFFER_BYTES);
        Writer writer = new BufferedWriter(
                new OutputStreamWriter(response.getOutputStream(), StandardCharsets.UTF_8), BUFFER_BYTES);
        export.accept(new CsvExport(writer));
        writer.flush();
    }

    @GetMapping("/sizes")
    Map<String, @Nullable Object> sizes() {
        StoreSizes.Sizes sizes = inspection.sizes().sizes();
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("documents", sizes.documents());
        answer.put("store_bytes", sizes.storeBytes());
        answer.put("search_index_bytes", sizes.searchIndexBytes());
        answer.put("parts", sizes.parts());
        return answer;
    }

    @PostMapping("/load/begin")
    Map<String, Object> begin() {
        inspection.loader().begin();
        return Map.of();
    }

    /** The posts of the body's lines into the store, past the write path. */
    @PostMapping(path = "/load", consumes = MediaType.APPLICATION_NDJSON_VALUE)
    Map<String, Integer> load(InputStream body) throws IOException {
        List<Post> posts = lines.read(body);
        inspection.loader().load(posts);
        return Map.of("posts", posts.size());
    }

    @PostMapping("/load/finish")
    Map<String, @Nullable Double> finish() {
        PostLoader.Finished finished = inspection.loader().finish();
        Map<String, @Nullable Double> answer = new LinkedHashMap<>();
        answer.put("build_seconds", finished.buildSeconds());
        answer.put("settle_seconds", finished.settleSeconds());
        return answer;
    }
}
