package io.writepath.store.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.writepath.post.StoreUnavailableException;
import io.writepath.testsupport.Metrics;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessResourceFailureException;

@ExtendWith(OutputCaptureExtension.class)
class PostgresAvailabilityTests {

    private final PostgresAvailability postgres = new PostgresAvailability();

    @Test
    void aDatabaseThatComesAndGoesCostsOneLineAChangeAndNoStackTrace(CapturedOutput output) {
        for (int times = 0; times < 3; times++) {
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> postgres.ask(this::gone));
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> postgres.ask(this::gone));
            assertThat(postgres.ask(() -> "stored")).isEqualTo("stored");
        }
        assertThat(output.getAll().lines().filter(line -> line.contains("PostgreSQL")))
                .hasSize(6)
                .first()
                .asString()
                .contains("cannot serve: the connection failed (java.sql.SQLException: the peer has gone)");
        assertThat(output).doesNotContain("\tat ");
    }

    @Test
    void whatIsNotAnsweredIsCountedByItsCause() {
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> postgres.ask(this::gone));
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> postgres.ask(this::usedUp));
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> postgres.ask(this::usedUp));
        assertThat(postgres.ask(() -> "stored")).isEqualTo("stored");
        assertThat(Metrics.of(postgres)).containsEntry("pool_timeouts", 2.0).containsEntry("store_failures", 1.0);
    }

    @Test
    void aPoolThatCannotConnectIsTheDatabasesFailureAndNotALackOfConnections() {
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> postgres.ask(this::refused))
                .withMessage("PostgreSQL cannot serve: the connection failed");
        assertThat(Metrics.of(postgres)).containsEntry("pool_timeouts", 0.0).containsEntry("store_failures", 1.0);
    }

    private String refused() {
        throw new DataAccessResourceFailureException(
                "insert",
                new SQLTransientConnectionException("none in time", new SQLException("Connection refused", "08001")));
    }

    private String usedUp() {
        throw new DataAccessResourceFailureException("insert", new SQLTransientConnectionException("none is free"));
    }

    private String gone() {
        throw new DataAccessResourceFailureException("insert", new SQLException("the peer has gone", "08006"));
    }
}
