package io.writepath.inspector;

import io.writepath.json.PostLines.BadLineException;
import io.writepath.post.LoadRefusedException;
import io.writepath.post.StoreUnavailableException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** Every refusal and every failure on the management port as {@code application/problem+json}. */
@RestControllerAdvice
@Order(Ordered.HIGHEST_PRECEDENCE) // before that of the application
class InspectorProblems extends ResponseEntityExceptionHandler {

    private static final Logger log = LoggerFactory.getLogger(InspectorProblems.class);

    @ExceptionHandler
    ProblemDetail refuse(BadLineException bad) {
        return problem(HttpStatus.BAD_REQUEST, bad.getMessage());
    }

    @ExceptionHandler
    ProblemDetail refuse(LoadRefusedException refused) {
        return problem(HttpStatus.CONFLICT, refused.getMessage());
    }

    /** An answer that has begun is left without its end: Tomcat then closes the connection. */
    @ExceptionHandler
    ProblemDetail fail(RuntimeException failed, HttpServletRequest request, HttpServletResponse response) {
        if (response.isCommitted()) {
            throw failed;
        }
        if (failed instanceof StoreUnavailableException) {
            return problem(HttpStatus.SERVICE_UNAVAILABLE, failed.getMessage());
        }
        log.warn("the inspector could not answer {}", request.getRequestURI(), failed);
        return problem(HttpStatus.SERVICE_UNAVAILABLE, "The question failed; the log says why.");
    }

    private static ProblemDetail problem(HttpStatus status, @Nullable String detail) {
        return ProblemDetail.forStatusAndDetail(status, detail);
    }
}
