package io.writepath.jpareader;

import io.writepath.json.FieldProblem;
import io.writepath.json.InvalidRequestException;
import io.writepath.json.TextRules;
import io.writepath.web.QueryParameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Pageable;
import org.springframework.data.domain.Sort;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Sessions: a log-in costs one statement, a list of users two, and to check a token none. */
@RestController
@RequestMapping(path = "/api", produces = MediaType.APPLICATION_JSON_VALUE)
class UserController {

    private static final long ITEMS_MAX = 1_000_000_000;
    private static final String BEYOND =
            "must end within the first %d users, at (page + 1) * size".formatted(ITEMS_MAX);

    private final UserRepository users;
    private final Tokens tokens;
    private final Reads reads;
    private final SqlCounters counters;

    UserController(UserRepository users, Tokens tokens, Reads reads, SqlCounters counters) {
        this.users = users;
        this.tokens = tokens;
        this.reads = reads;
        this.counters = counters;
    }

    @PostMapping(path = "/sessions", consumes = MediaType.APPLICATION_JSON_VALUE)
    @ResponseStatus(HttpStatus.CREATED)
    Session logIn(@RequestBody LogIn given) {
        Credentials asked = given.valid();
        Optional<User> known = reads.of(() -> users.findByName(asked.name()));
        counters.rows(known.stream().toList());
        return known.filter(user -> user.hasPassword(asked.password()))
                .map(user -> new Session(tokens.issue(user.id())))
                .orElseThrow(() -> new UnauthorizedException("There is no user of this name and password."));
    }

    @GetMapping("/users")
    UserPage list(
            @RequestHeader(name = HttpHeaders.AUTHORIZATION, required = false) @Nullable String authorization,
            @RequestParam MultiValueMap<String, String> query) {
        tokens.assertValid(authorization);
        QueryParameters given = new QueryParameters(query);
        String name = given.line("name");
        int size = given.size();
        int page = given.page(size, ITEMS_MAX, BEYOND);
        given.assertValid();
        return reads.of(() -> page(name, PageRequest.of(page, size, Sort.by("id"))));
    }

    private UserPage page(@Nullable String name, Pageable asked) {
        List<User> found =
                counters.rows(name == null ? users.findAllBy(asked) : users.findByNameContaining(name, asked));
        long total = counters.row(name == null ? users.count() : users.countByNameContaining(name));
        List<FoundUser> shown = found.stream()
                .map(user -> new FoundUser(user.id(), user.name()))
                .toList();
        return new UserPage(shown, asked.getPageNumber(), asked.getPageSize(), total);
    }

    record LogIn(@Nullable String name, @Nullable String password) {

        /** Throws with every field that is wrong. */
        Credentials valid() {
            List<FieldProblem> problems = new ArrayList<>();
            Credentials credentials =
                    new Credentials(line("name", name, problems), line("password", password, problems));
            if (!problems.isEmpty()) {
                throw new InvalidRequestException(problems);
            }
            return credentials;
        }

        private static String line(String field, @Nullable String given, List<FieldProblem> problems) {
            if (given == null) {
                problems.add(new FieldProblem(field, "must be given"));
                return "";
            }
            TextRules.objection(given).ifPresent(why -> problems.add(new FieldProblem(field, why)));
            return given;
        }
    }

    private record Credentials(String name, String password) {}

    record Session(String token) {}

    record FoundUser(long id, String name) {}

    record UserPage(List<FoundUser> users, int page, int size, long total) {}
}
