package io.writepath.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.mock.http.MockHttpInputMessage;

class BodyLimitTests {

    private static final int LIMIT = 16 * 1024;

    @Test
    void aBodyOfKnownLengthIsReadIntoAnArrayOfThatLength() throws IOException {
        Recorded body = new Recorded(100);
        assertThat(BodyLimit.read(message(body, 100))).hasSize(100);
        assertThat(body.largestArray).isEqualTo(100);
    }

    /** Without a length, as in chunks, or with one that is not the body's. */
    @ParameterizedTest
    @CsvSource({
        "100,-1,100",
        "16384,-1,16384",
        "16385,-1,16385",
        "99999,-1,16385",
        "16384,16384,16384",
        "99999,99999,16385",
        "99999,9223372036854775807,16385",
        "100,200,100",
        "0,0,0"
    })
    void nothingIsReadBeyondTheFirstByteThatIsTooMuch(int size, long told, int read) throws IOException {
        assertThat(BodyLimit.read(message(new Recorded(size), told))).hasSize(read);
        assertThat(read > LIMIT).isEqualTo(size > LIMIT);
    }

    private static MockHttpInputMessage message(Recorded body, long told) {
        MockHttpInputMessage message = new MockHttpInputMessage(body);
        if (told >= 0) {
            message.getHeaders().setContentLength(told);
        }
        return message;
    }

    /** Knows the largest array that it was asked to fill. */
    private static final class Recorded extends FilterInputStream {

        private int largestArray;

        Recorded(int size) {
            super(new ByteArrayInputStream(new byte[size]));
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            largestArray = Math.max(largestArray, bytes.length);
            return super.read(bytes, offset, length);
        }
    }
}
