package io.writepath.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.writepath.json.PostLines.BadLineException;
import io.writepath.post.Post;
import io.writepath.post.PostLoader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PostLinesTests {

    private static final String ID = "0189aaaa-bbbb-8ccc-8ddd-eeeeeeeeeeee";
    private static final String MOMENT = "2026-01-02T03:04:05.678Z";

    private final PostLines lines = new PostLines();

    @Test
    void eachLineIsAPostWhetherOrNotTheLastOneEnds() throws IOException {
        String other = ID.replace('0', '1');
        String text = line(ID, "좋은 영화 😀\\n\\t둘") + "\n" + line(other, "a");
        List<Post> posts = List.of(
                new Post(UUID.fromString(ID), "좋은 영화 😀\n\t둘", Instant.parse(MOMENT)),
                new Post(UUID.fromString(other), "a", Instant.parse(MOMENT)));
        assertThat(read(text)).isEqualTo(posts);
        assertThat(read(text + "\n")).isEqualTo(posts);
        assertThat(read("")).isEmpty();
    }

    @Test
    void aMomentMayBeWrittenWithAnotherOffset() throws IOException {
        assertThat(read(line(ID, "a").replace(MOMENT, "2026-01-02T12:04:05.678+09:00")))
                .singleElement()
                .extracting(Post::createdAt)
                .isEqualTo(Instant.parse(MOMENT));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{}|id must be given",
                "{'content':'a','createdAt':'2026-01-02T03:04:05.678Z'}|id must be given",
                "{'id':'ID','content':'a'}|createdAt must be given",
                "{'id':'ID','content':'a','createdAt':'yesterday'}|createdAt must be a moment",
                "{'id':'ID','content':'a','createdAt':'2026-01-02T03:04:05.678'}|createdAt must be a moment",
                "{'id':'ID','content':'a','createdAt':'2026-01-02T03:04:05.678912Z'}|createdAt must be in whole millis",
                "{'id':'ID','content':'a','createdAt':'1969-12-31T23:59:59.999Z'}|and from 1970 to 9999",
                "{'id':'5','content':'a','createdAt':'2026-01-02T03:04:05.678Z'}|id must be a UUID",
                "{'id':'ID','content':' ','createdAt':'2026-01-02T03:04:05.678Z'}|content must not be blank",
                "{'id':'ID','content':5,'createdAt':'2026-01-02T03:04:05.678Z'}|content must be a string",
                "{'id':'ID','content':'a','extra':1}|extra is not a known property",
                "{'id':'ID'|body must be",
                "[]|body must be one JSON object",
                "null|body must be one JSON object",
                "``|body must be"
            })
    void aBadLineIsNamedByItsNumberWithTheReason(String line, String why) {
        String text = line(ID.replace('0', '2'), "good") + "\n"
                + line.replace('\'', '"').replace("ID", ID) + "\n" + line(ID.replace('0', '3'), "good");
        assertThatExceptionOfType(BadLineException.class)
                .isThrownBy(() -> read(text))
                .withMessageStartingWith("line 2: ")
                .withMessageContaining(why)
                .withMessageEndingWith("; nothing was loaded");
    }

    @Test
    void anIdMayStandOnOneLineOnly() {
        assertThatExceptionOfType(BadLineException.class)
                .isThrownBy(() -> read(line(ID, "a") + "\n" + line(ID, "b")))
                .withMessage("line 2: id is that of an earlier line; nothing was loaded");
    }

    @Test
    void aLineHasABoundAndSoHasTheirNumber() {
        assertThatExceptionOfType(BadLineException.class)
                .isThrownBy(() -> read("\"" + "a".repeat(200_000) + "\""))
                .withMessageStartingWith("line 1: body is longer than 16384 bytes");
        String tooMany = IntStream.rangeClosed(0, PostLoader.POSTS_MAX)
                .mapToObj(number -> line(new UUID(0, number).toString(), "a"))
                .collect(Collectors.joining("\n"));
        assertThatExceptionOfType(BadLineException.class)
                .isThrownBy(() -> read(tooMany))
                .withMessageStartingWith("line 10001: a request has at most 10000 lines");
    }

    private List<Post> read(String text) throws IOException {
        return lines.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static String line(String id, String content) {
        return "{\"id\":\"%s\",\"content\":\"%s\",\"createdAt\":\"%s\"}".formatted(id, content, MOMENT);
    }
}
