package io.writepath.json;

import io.writepath.post.Post;
import io.writepath.post.PostLoader;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** The body of a bulk load: one JSON object a line, each held to what the contract asks of a post. */
public final class PostLines {

    private final JsonMapper json = StrictJson.mapper();

    /** Names the first line that is wrong, counted from 1; nothing of the body was stored. */
    public static final class BadLineException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        BadLineException(int line, String why) {
            super("line %d: %s; nothing was loaded".formatted(line, why));
        }
    }

    /** The posts in the order of their lines, at most {@link PostLoader#POSTS_MAX}. */
    public List<Post> read(InputStream body) throws IOException {
        ByteLines lines = new ByteLines(body, PostRequest.BYTES_MAX);
        List<Post> posts = new ArrayList<>();
        Set<UUID> ids = new HashSet<>();
        int number = 1;
        for (byte[] line = next(lines, number); line != null; line = next(lines, number)) {
            if (number > PostLoader.POSTS_MAX) {
                throw new BadLineException(number, "a request has at most %d lines".formatted(PostLoader.POSTS_MAX));
            }
            Post post = parse(line, number);
            if (!ids.add(post.id())) {
                throw new BadLineException(number, "id is that of an earlier line");
            }
            posts.add(post);
            number++;
        }
        return posts;
    }

    private Post parse(byte[] line, int number) {
        try {
            PostLine read = json.readValue(line, PostLine.class);
            if (read == null) {
                throw new BadLineException(number, "body must be one JSON object");
            }
            return read.toPost();
        } catch (JacksonException unreadable) {
            throw new BadLineException(number, JsonObjections.of(unreadable).inWords());
        } catch (InvalidRequestException refused) {
            throw new BadLineException(number, refused.problems().getFirst().inWords());
        }
    }

    private static byte @Nullable [] next(ByteLines lines, int number) throws IOException {
        try {
            return lines.next();
        } catch (ByteLines.LineTooLongException tooLong) {
            throw new BadLineException(number, "body is longer than %d bytes".formatted(PostRequest.BYTES_MAX));
        }
    }
}
