package io.writepath.jpawriter;

import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.RunningApplication;
import java.net.http.HttpResponse;

/** The application as it is deployed, on ports of its own, spoken to over HTTP. */
final class RunningWriter extends RunningApplication {

    RunningWriter(PostgresService postgres, String... settings) {
        super(JpaWriter.class, postgres, settings);
    }

    HttpResponse<String> post(String json) {
        return post("/api/posts", json);
    }
}
