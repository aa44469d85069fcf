package io.writepath.inspector;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

class AdmissionTests {

    private static final int OK = 200;
    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;

    private final Admission admission = new Admission("secret");

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.0.0.1:8081", "localhost:40000", "LocalHost", "[::1]:8081"})
    void answersWhoAsksThisMachine(String host) throws Exception {
        assertThat(status(admission, "GET", "Host", host)).isEqualTo(OK);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "example.org",
                "127.0.0.1.example.org",
                "localhost.example.org:8081",
                "10.0.0.7:8081",
                "evil@localhost"
            })
    void doesNotAnswerUnderAnyOtherName(String host) throws Exception {
        assertThat(status(admission, "GET", "Host", host)).isEqualTo(FORBIDDEN);
    }

    @Test
    void answersNoWebPageAndNobodyWithoutAHost() throws Exception {
        assertThat(status(admission, "GET", "Host", "localhost", "Origin", "http://localhost"))
                .isEqualTo(FORBIDDEN);
        assertThat(status(admission, "GET", "Host", "localhost", "Origin", "null"))
                .isEqualTo(FORBIDDEN);
        assertThat(status(admission, "GET")).isEqualTo(FORBIDDEN);
    }

    @ParameterizedTest
    @CsvSource({
        "POST, runner:secret, 200",
        "POST, runner:guessed, 401",
        "POST, runner:, 401",
        "POST, , 401",
        "DELETE, , 401",
        "GET, , 200"
    })
    void letsOnlyWhoKnowsTheTokenChangeData(String method, @Nullable String credentials, int status) throws Exception {
        assertThat(status(admission, method, known(credentials))).isEqualTo(status);
        assertThat(status(admission, "POST", "Host", "localhost", "Authorization", "Bearer secret"))
                .isEqualTo(UNAUTHORIZED);
    }

    @Test
    void letsNobodyChangeDataWhereThereIsNoToken() throws Exception {
        assertThat(status(new Admission(""), "POST", known("runner:"))).isEqualTo(UNAUTHORIZED);
        assertThat(status(new Admission(""), "POST", known(null))).isEqualTo(UNAUTHORIZED);
    }

    private static String[] known(@Nullable String credentials) {
        if (credentials == null) {
            return new String[] {"Host", "localhost"};
        }
        byte[] bytes = credentials.getBytes(StandardCharsets.UTF_8);
        String basic = "Basic " + Base64.getEncoder().encodeToString(bytes);
        return new String[] {"Host", "localhost", "Authorization", basic};
    }

    private static int status(Admission admission, String method, String... headers) throws Exception {
        MockHttpServletRequest request = new MockHttpServletRequest(method, "/inspector/count");
        for (int i = 0; i < headers.length; i += 2) {
            request.addHeader(headers[i], headers[i + 1]);
        }
        MockHttpServletResponse response = new MockHttpServletResponse();
        admission.doFilter(request, response, new MockFilterChain());
        return response.getStatus();
    }
}
