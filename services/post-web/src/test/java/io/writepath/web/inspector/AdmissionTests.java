package io.writepath.web.inspector;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.Headers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdmissionTests {

    private final Admission admission = new Admission("secret");

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.0.0.1:8081", "localhost:40000", "LocalHost", "[::1]:8081"})
    void answersWhoAsksThisMachine(String host) {
        assertThat(admission.isFromHere(Headers.of("Host", host))).isTrue();
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
    void doesNotAnswerUnderAnyOtherName(String host) {
        assertThat(admission.isFromHere(Headers.of("Host", host))).isFalse();
    }

    @Test
    void answersNoWebPageAndNobodyWithoutAHost() {
        assertThat(admission.isFromHere(Headers.of("Host", "localhost", "Origin", "http://localhost")))
                .isFalse();
        assertThat(admission.isFromHere(Headers.of("Host", "localhost", "Origin", "null")))
                .isFalse();
        assertThat(admission.isFromHere(new Headers())).isFalse();
    }

    @Test
    void letsOnlyWhoKnowsTheTokenChangeData() {
        assertThat(admission.mayChange(basic("runner:secret"))).isTrue();
        assertThat(admission.mayChange(basic("runner:guessed"))).isFalse();
        assertThat(admission.mayChange(basic("runner:"))).isFalse();
        assertThat(admission.mayChange(Headers.of("Authorization", "Bearer secret")))
                .isFalse();
        assertThat(admission.mayChange(new Headers())).isFalse();
    }

    @Test
    void letsNobodyChangeDataWhereThereIsNoToken() {
        assertThat(new Admission("").mayChange(basic("runner:"))).isFalse();
        assertThat(new Admission("").mayChange(new Headers())).isFalse();
    }

    private static Headers basic(String credentials) {
        byte[] bytes = credentials.getBytes(StandardCharsets.UTF_8);
        return Headers.of("Authorization", "Basic " + Base64.getEncoder().encodeToString(bytes));
    }
}
