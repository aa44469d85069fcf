package io.writepath.jpareader;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/** Nobody is logged in: HTTP 401, which says how to change that. */
final class UnauthorizedException extends ErrorResponseException {

    private static final long serialVersionUID = 1L;

    UnauthorizedException(String detail) {
        super(HttpStatus.UNAUTHORIZED, ProblemDetail.forStatusAndDetail(HttpStatus.UNAUTHORIZED, detail), null);
        getHeaders().set(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
    }
}
