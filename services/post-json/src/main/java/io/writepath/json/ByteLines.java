package io.writepath.json;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** A stream of bytes line by line, each of bounded length. Not for several threads. */
final class ByteLines {

    private static final int BUFFER_BYTES = 1 << 16;

    private final InputStream in;
    private final int lineBytesMax;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int limit;

    ByteLines(InputStream in, int lineBytesMax) {
        this.in = in;
        this.lineBytesMax = lineBytesMax;
    }

    /**
     * The next line without its end; null after the last one, which may or may not end as the others do.
     *
     * @throws LineTooLongException it has more bytes than may be
     */
    byte @Nullable [] next() throws IOException, LineTooLongException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        boolean begun = false;
        while (position < limit || fill()) {
            begun = true;
            int end = position;
            while (end < limit && buffer[end] != '\n') {
                end++;
            }
            line.write(buffer, position, end - position);
            if (line.size() > lineBytesMax) {
                throw new LineTooLongException();
            }
            position = Math.min(end + 1, limit);
            if (end < limit) {
                return line.toByteArray();
            }
        }
        return begun ? line.toByteArray() : null;
    }

    private boolean fill() throws IOException {
        position = 0;
        limit = Math.max(0, in.read(buffer));
        return limit > 0;
    }

    static final class LineTooLongException extends Exception {

        private static final long serialVersionUID = 1L;
    }
}
