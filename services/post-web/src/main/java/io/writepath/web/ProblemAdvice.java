package io.writepath.web;

import io.writepath.json.FieldProblem;
import io.writepath.json.InvalidRequestException;
import io.writepath.json.JsonObjections;
import io.writepath.post.PostConflictException;
import io.writepath.post.StoreUnavailableException;
import java.util.List;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;
import org.springframework.web.servlet.resource.NoResourceFoundException;

/** The error model: every refusal and every failure as {@code application/problem+json}, without internals. */
@RestControllerAdvice
class ProblemAdvice extends ResponseEntityExceptionHandler {

    private static final Logger log = LoggerFactory.getLogger(ProblemAdvice.class);
    private static final String RETRY_AFTER_S = "1";
    private static final String REFUSED_BY = "X-Refused-By";
    private static final String BY_APPLICATION = "application";
    private static final String BY_STORE = "store";

    @ExceptionHandler
    ResponseEntity<ProblemDetail> refuse(InvalidRequestException refused) {
        ProblemDetail problem = problem(HttpStatus.BAD_REQUEST, "The request is not valid; nothing was stored.");
        problem.setProperty("errors", refused.problems());
        return ResponseEntity.badRequest().body(problem);
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> refuse(PostConflictException conflict) {
        return ResponseEntity.status(HttpStatus.CONFLICT).body(problem(HttpStatus.CONFLICT, conflict.getMessage()));
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> refuse(PostNotFoundException absent) {
        return ResponseEntity.status(HttpStatus.NOT_FOUND).body(problem(HttpStatus.NOT_FOUND, absent.getMessage()));
    }

    /** Tomcat decodes a query only when it is read, so that a malformed one surfaces here. */
    @ExceptionHandler
    ResponseEntity<ProblemDetail> refuse(InvalidParameterException malformed) {
        log.debug("a malformed query", malformed);
        return refuse(new InvalidRequestException(List.of(new FieldProblem("query", "must be percent-encoded UTF-8"))));
    }

    /** At the cap of requests in flight, before anything was asked of a store. */
    @ExceptionHandler
    ResponseEntity<ProblemDetail> refuse(TooMuchInFlightException full) {
        return postponed(full, BY_APPLICATION);
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> postpone(StoreUnavailableException unavailable) {
        return postponed(unavailable, BY_STORE);
    }

    /**
     * Not logged: the store's own code logs a change of state once, and under overload this comes thousands of times.
     */
    private static ResponseEntity<ProblemDetail> postponed(RuntimeException reason, String refusedBy) {
        return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
                .header(HttpHeaders.RETRY_AFTER, RETRY_AFTER_S)
                .header(REFUSED_BY, refusedBy)
                .body(problem(HttpStatus.SERVICE_UNAVAILABLE, reason.getMessage()));
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> fail(Exception unexpected) {
        log.error("a request failed unexpectedly", unexpected);
        return ResponseEntity.internalServerError()
                .body(problem(HttpStatus.INTERNAL_SERVER_ERROR, "The request failed unexpectedly."));
    }

    @Override
    protected @Nullable ResponseEntity<Object> handleHttpMessageNotReadable(
            HttpMessageNotReadableException unreadable,
            HttpHeaders headers,
            HttpStatusCode status,
            WebRequest request) {
        ProblemDetail problem = problem(HttpStatus.BAD_REQUEST, "The body is not what the contract asks for.");
        problem.setProperty("errors", List.of(JsonObjections.of(unreadable.getCause())));
        return handleExceptionInternal(unreadable, problem, headers, HttpStatus.BAD_REQUEST, request);
    }

    @Override
    protected @Nullable ResponseEntity<Object> handleNoResourceFoundException(
            NoResourceFoundException absent, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        ProblemDetail problem = problem(HttpStatus.NOT_FOUND, "The contract has no such path.");
        return handleExceptionInternal(absent, problem, headers, status, request);
    }

    private static ProblemDetail problem(HttpStatus status, @Nullable String detail) {
        return ProblemDetail.forStatusAndDetail(status, detail);
    }
}
