package io.writepath.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.post.Post;
import io.writepath.post.PostCursor;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CursorTextTests {

    private static final UUID ID = UUID.fromString("f189aaaa-bbbb-8ccc-8ddd-eeeeeeeeeeee");
    private static final Instant MOMENT = Instant.parse("2026-01-02T03:04:05.678912Z");

    @Test
    void aPlaceIsReadBackAsItWasToTheMicrosecond() {
        PostCursor place = new PostCursor(MOMENT, ID);
        assertThat(CursorText.of(place)).matches("[A-Za-z0-9_-]{32}");
        assertThat(CursorText.parse(CursorText.of(place))).hasValue(place);
    }

    @Test
    void theFirstAndTheLastMomentAreOurs() {
        for (String moment : List.of("1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z")) {
            PostCursor place = new PostCursor(Instant.parse(moment), ID);
            assertThat(CursorText.parse(CursorText.of(place))).hasValue(place);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "nonsense",
                "' OR 1=1 --",
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
                "AAAAAAAAAAAAAAAA+AAAAAAAAAAAAAAA",
                "영화영화영화영화영화영화영화영화영화영화영화영화영화영화영화영화"
            })
    void otherTextIsNoPlace(String text) {
        assertThat(CursorText.parse(text)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 253_402_300_800_000_000L})
    void aMomentThatNoPostHasIsNoPlace(long micros) {
        byte[] bytes = ByteBuffer.allocate(24).putLong(micros).array();
        assertThat(CursorText.parse(Base64.getUrlEncoder().encodeToString(bytes)))
                .isEmpty();
    }

    @Test
    void placesAreOrderedNewestFirstAndThenByIdWithoutASign() {
        UUID low = UUID.fromString("00000000-0000-4000-8000-000000000000");
        UUID middle = UUID.fromString("7fffffff-0000-4000-8000-000000000000");
        UUID high = UUID.fromString("80000000-0000-4000-8000-000000000000");
        List<PostCursor> ordered = List.of(
                new PostCursor(MOMENT.plusMillis(1), low),
                new PostCursor(MOMENT, high),
                new PostCursor(MOMENT, middle),
                new PostCursor(MOMENT, low),
                new PostCursor(MOMENT.minusMillis(1), high));
        assertThat(ordered.reversed().stream().sorted().toList()).isEqualTo(ordered);
        assertThat(PostCursor.of(new Post(low, "a", MOMENT))).isEqualTo(new PostCursor(MOMENT, low));
    }
}
