package io.writepath.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps Spring from flushing an answer before it has ended. Tomcat then knows the length of each answer that fits its
 * buffer of 8 KiB, and sends it with its headers in one packet; in chunks the end would be another one, at every hop. A
 * longer answer is still sent in chunks, as the buffer fills.
 */
final class ContentLengthFilter extends HttpFilter {

    private static final long serialVersionUID = 1L;

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        chain.doFilter(request, new Unflushed(response));
    }

    private static final class Unflushed extends HttpServletResponseWrapper {

        private @Nullable ServletOutputStream stream;

        Unflushed(HttpServletResponse response) {
            super(response);
        }

        @Override
        public ServletOutputStream getOutputStream() throws IOException {
            ServletOutputStream own = stream;
            if (own == null) {
                own = new UnflushedStream(super.getOutputStream());
                stream = own;
            }
            return own;
        }

        /** Nothing: Tomcat flushes what has ended. */
        @Override
        public void flushBuffer() {}
    }

    private static final class UnflushedStream extends ServletOutputStream {

        private final ServletOutputStream stream;

        UnflushedStream(ServletOutputStream stream) {
            this.stream = stream;
        }

        @Override
        public void write(int oneByte) throws IOException {
            stream.write(oneByte);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            stream.write(bytes, offset, length);
        }

        /** Nothing, as {@link Unflushed#flushBuffer()}. */
        @Override
        public void flush() {}

        @Override
        public void close() throws IOException {
            stream.close();
        }

        @Override
        public boolean isReady() {
            return stream.isReady();
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            stream.setWriteListener(listener);
        }
    }
}
