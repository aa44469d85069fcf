package io.writepath.jpareader;

import java.util.Optional;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A sum over a user's points: one statement. */
@RestController
class PointController {

    private final PointRepository points;
    private final Reads reads;
    private final SqlCounters counters;

    PointController(PointRepository points, Reads reads, SqlCounters counters) {
        this.points = points;
        this.reads = reads;
        this.counters = counters;
    }

    @GetMapping(path = "/api/points/{user}", produces = MediaType.APPLICATION_JSON_VALUE)
    Sum sum(@PathVariable long user) {
        Optional<Long> sum = reads.of(() -> Optional.ofNullable(counters.row(points.sum(user))));
        return new Sum(user, sum.orElseThrow(() -> absent(user)));
    }

    /** Whether there is such a user would be a second statement. */
    private static ErrorResponseException absent(long user) {
        String detail = "There are no points of user %d.".formatted(user);
        return new ErrorResponseException(
                HttpStatus.NOT_FOUND, ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, detail), null);
    }

    record Sum(long user, long points) {}
}
