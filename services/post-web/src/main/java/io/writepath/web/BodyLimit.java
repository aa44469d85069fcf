package io.writepath.web;

import io.writepath.json.PostRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Type;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdviceAdapter;

/** Reads at most so much of a body, whatever its Content-Length says: HTTP 413 beyond it. */
@ControllerAdvice
class BodyLimit extends RequestBodyAdviceAdapter {

    @Override
    public boolean supports(
            MethodParameter parameter, Type type, Class<? extends HttpMessageConverter<?>> converterType) {
        return true;
    }

    @Override
    public HttpInputMessage beforeBodyRead(
            HttpInputMessage message,
            MethodParameter parameter,
            Type type,
            Class<? extends HttpMessageConverter<?>> converterType)
            throws IOException {
        byte[] body = read(message);
        if (body.length > PostRequest.BYTES_MAX) {
            String detail = "The body is larger than %d bytes; nothing was stored.".formatted(PostRequest.BYTES_MAX);
            throw new ErrorResponseException(
                    HttpStatus.CONTENT_TOO_LARGE,
                    ProblemDetail.forStatusAndDetail(HttpStatus.CONTENT_TOO_LARGE, detail),
                    null);
        }
        return new ReadBody(message.getHeaders(), body);
    }

    /** As much as its Content-Length says, in an array of that size, and never more than one byte beyond the limit. */
    static byte[] read(HttpInputMessage message) throws IOException {
        long length = message.getHeaders().getContentLength();
        int most = length < 0 ? PostRequest.BYTES_MAX + 1 : (int) Math.min(length, PostRequest.BYTES_MAX + 1);
        return message.getBody().readNBytes(most);
    }

    /** The body as read, for the converter to read once more. */
    private static final class ReadBody implements HttpInputMessage {

        private final HttpHeaders headers;
        private final InputStream body;

        ReadBody(HttpHeaders headers, byte[] bytes) {
            this.headers = headers;
            this.body = new ByteArrayInputStream(bytes);
        }

        @Override
        public InputStream getBody() {
            return body;
        }

        @Override
        public HttpHeaders getHeaders() {
            return headers;
        }
    }
}
