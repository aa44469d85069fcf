package io.writepath.web;

import java.io.IOException;
import java.io.Writer;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;

/**
 * What Tomcat refuses before the controller sees it (a malformed path, say) gets the same kind of answer. Public, since
 * Tomcat makes it.
 */
public class ProblemValve extends ErrorReportValve {

    private static final Logger log = LoggerFactory.getLogger(ProblemValve.class);

    @Override
    protected void report(Request request, Response response, @Nullable Throwable failure) {
        int status = response.getStatus();
        if (status < 400 || response.getContentWritten() > 0 || !response.setErrorReported()) {
            return;
        }
        HttpStatus known = HttpStatus.resolve(status);
        String title = known == null ? "Error" : known.getReasonPhrase();
        try {
            response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
            Writer writer = response.getReporter();
            if (writer != null) {
                writer.write("{\"status\":%d,\"title\":\"%s\"}".formatted(status, title));
                response.finishResponse();
            }
        } catch (IOException gone) {
            log.debug("the client went before it heard of {}", status, gone);
        }
    }
}
