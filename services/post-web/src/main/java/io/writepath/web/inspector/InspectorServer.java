package io.writepath.web.inspector;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.writepath.post.LoadRefusedException;
import io.writepath.post.Post;
import io.writepath.post.PostLoader;
import io.writepath.post.StoreUnavailableException;
import io.writepath.web.PostLines;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/**
 * The inspector's own small HTTP server: the JDK's, with platform threads of its own, so that it answers while every
 * virtual thread of the measured server waits, shares nothing with it, and cannot be reached through it.
 */
final class InspectorServer implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(InspectorServer.class);
    private static final int BACKLOG = 64;
    private static final int THREADS = 4;
    private static final String GET = "GET";
    private static final String POST = "POST";
    private static final String LINES_OF_JSON = "application/x-ndjson";
    private static final String IDS = "ids=";
    private static final Pattern COMMA = Pattern.compile(",");

    private final InetSocketAddress address;
    private final Admission admission;
    private final Map<String, Endpoint> endpoints;
    private final PostLines lines = new PostLines();
    private final JsonMapper json = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build();
    private @Nullable HttpServer server;
    private @Nullable ExecutorService threads;

    InspectorServer(InspectorSettings settings, Inspection inspection) {
        this.address = new InetSocketAddress(settings.address(), settings.port());
        this.admission = new Admission(settings.token());
        this.endpoints = Map.ofEntries(
                entry("ready", json(GET, () -> {
                    inspection.assertReady();
                    return Map.of("ready", true);
                })),
                entry(
                        "count",
                        json(GET, () -> Map.of("count", inspection.store().count()))),
                entry("reset", json(POST, () -> {
                    inspection.reset();
                    return Map.of("count", inspection.store().count());
                })),
                entry("pending", json(GET, inspection::pending)),
                entry("durability", json(GET, inspection::durability)),
                entry("gauges", json(GET, inspection::readGauges)),
                entry("versions", json(GET, inspection::versions)),
                entry("visible", new Endpoint(GET, exchange -> visible(exchange, inspection))),
                entry("posts", csv(export -> export.posts(inspection.store()))),
                entry("commits", csv(export -> export.commits(inspection.commits()))),
                entry("sizes", json(GET, () -> inspection.sizes().sizes())),
                entry("load/begin", json(POST, () -> {
                    inspection.loader().begin();
                    return Map.of();
                })),
                entry("load", new Endpoint(POST, exchange -> load(exchange, inspection.loader()))),
                entry("load/finish", json(POST, () -> inspection.loader().finish())));
    }

    private static Map.Entry<String, Endpoint> entry(String question, Endpoint endpoint) {
        return Map.entry("/inspector/" + question, endpoint);
    }

    /** One thing to ask, and how its answer is written. */
    private record Endpoint(String method, Answer answer) {}

    private interface Answer {
        void write(HttpExchange exchange) throws IOException;
    }

    private interface Question {
        Object ask();
    }

    private Endpoint json(String method, Question question) {
        return new Endpoint(method, exchange -> send(exchange, 200, "application/json", question.ask()));
    }

    /** An answer whose end is missing (no final chunk) tells the reader that the export broke off. */
    private static Endpoint csv(Consumer<CsvExport> export) {
        return new Endpoint(GET, exchange -> {
            LateStart out = new LateStart(exchange);
            Writer writer = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8), 1 << 16);
            export.accept(new CsvExport(writer));
            writer.close();
        });
    }

    /** Of the posts asked for, {@code ?ids=a,b,c}, those a search finds now. */
    private void visible(HttpExchange exchange, Inspection inspection) throws IOException {
        String query = String.valueOf(exchange.getRequestURI().getQuery());
        List<UUID> ids;
        try {
            ids = query.startsWith(IDS)
                    ? COMMA.splitAsStream(query.substring(IDS.length()))
                            .map(UUID::fromString)
                            .toList()
                    : List.of();
        } catch (IllegalArgumentException noId) {
            ids = List.of();
        }
        if (ids.isEmpty()) {
            problem(exchange, 400, "Ask with ?ids= and one or more ids, parted by commas.");
        } else {
            send(
                    exchange,
                    200,
                    "application/json",
                    Map.of("visible", inspection.store().visible(ids)));
        }
    }

    /** The posts of the body's lines into the store, past the write path. */
    private void load(HttpExchange exchange, PostLoader loader) throws IOException {
        if (!String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type"))
                .startsWith(LINES_OF_JSON)) {
            refuseBody(exchange, 415, "Send " + LINES_OF_JSON + ".");
            return;
        }
        List<Post> posts;
        try {
            posts = lines.read(exchange.getRequestBody());
        } catch (PostLines.BadLineException bad) {
            refuseBody(exchange, 400, String.valueOf(bad.getMessage()));
            return;
        }
        loader.load(posts);
        send(exchange, 200, "application/json", Map.of("posts", posts.size()));
    }

    /** After the rest of the body: a client that is still sending would meet a closed connection, and no answer. */
    private void refuseBody(HttpExchange exchange, int status, String detail) throws IOException {
        exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
        problem(exchange, status, detail);
    }

    private void answer(HttpExchange exchange) throws IOException {
        Endpoint endpoint = endpoints.get(exchange.getRequestURI().getPath());
        if (!admission.isFromHere(exchange.getRequestHeaders())) {
            problem(exchange, 403, "Ask 127.0.0.1 or localhost, and from no web page.");
        } else if (endpoint == null) {
            problem(exchange, 404, "The inspector has no such page.");
        } else if (!endpoint.method().equals(exchange.getRequestMethod())) {
            exchange.getResponseHeaders().set("Allow", endpoint.method());
            problem(exchange, 405, "Ask with " + endpoint.method() + ".");
        } else if (endpoint.method().equals(POST) && !admission.mayChange(exchange.getRequestHeaders())) {
            exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"inspector\"");
            problem(exchange, 401, "Give the token of INSPECTOR_TOKEN, as the password of " + Admission.USER + ".");
        } else {
            write(endpoint, exchange);
        }
    }

    private void write(Endpoint endpoint, HttpExchange exchange) throws IOException {
        try {
            endpoint.answer().write(exchange);
        } catch (UncheckedIOException gone) {
            throw gone.getCause();
        } catch (LoadRefusedException refused) {
            problem(exchange, 409, String.valueOf(refused.getMessage()));
        } catch (StoreUnavailableException unavailable) {
            problem(exchange, 503, String.valueOf(unavailable.getMessage()));
        } catch (RuntimeException unexpected) {
            log.warn("the inspector could not answer {}", exchange.getRequestURI(), unexpected);
            problem(exchange, 503, "The question failed; the log says why.");
        }
    }

    private void problem(HttpExchange exchange, int status, String detail) throws IOException {
        if (exchange.getResponseCode() != -1) {
            throw new IOException("the answer had begun when it failed: " + detail);
        }
        send(exchange, status, "application/problem+json", Map.of("status", status, "detail", detail));
    }

    private void send(HttpExchange exchange, int status, String type, Object body) throws IOException {
        byte[] bytes = json.writeValueAsBytes(body);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, bytes.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(bytes);
        }
    }

    @Override
    public void start() {
        try {
            HttpServer starting = HttpServer.create(address, BACKLOG);
            ExecutorService pool = Executors.newFixedThreadPool(THREADS, threadsWithOurClasses());
            starting.setExecutor(pool);
            // Not closed here: an exception drops the connection, while close() would end a broken export properly.
            starting.createContext("/", this::answer);
            starting.start();
            server = starting;
            threads = pool;
            log.info("the inspector listens on {}", starting.getAddress());
        } catch (IOException taken) {
            throw new UncheckedIOException("the inspector cannot listen on " + address, taken);
        }
    }

    /**
     * A thread that the JDK's server starts has the system's class loader, which does not know what lies in a jar
     * within a jar: a script on the class path would not be found.
     */
    private static ThreadFactory threadsWithOurClasses() {
        ThreadFactory named = Thread.ofPlatform().name("inspector-", 0).factory();
        ClassLoader ours = Thread.currentThread().getContextClassLoader();
        return task -> {
            Thread thread = named.newThread(task);
            thread.setContextClassLoader(ours);
            return thread;
        };
    }

    @Override
    public void stop() {
        if (server != null && threads != null) {
            server.stop(0);
            threads.shutdownNow();
            server = null;
        }
    }

    @Override
    public boolean isRunning() {
        return server != null;
    }

    /** Sends the status with the first buffer, so that a store that fails before its first row is still a 503. */
    private static final class LateStart extends OutputStream {

        private final HttpExchange exchange;
        private @Nullable OutputStream started;

        LateStart(HttpExchange exchange) {
            this.exchange = exchange;
        }

        private OutputStream body() throws IOException {
            if (started == null) {
                exchange.getResponseHeaders().set("Content-Type", "text/csv; charset=utf-8");
                exchange.sendResponseHeaders(200, 0);
                started = exchange.getResponseBody();
            }
            return started;
        }

        @Override
        public void write(int single) throws IOException {
            body().write(single);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            body().write(bytes, offset, length);
        }

        @Override
        public void close() throws IOException {
            body().close();
        }
    }
}
