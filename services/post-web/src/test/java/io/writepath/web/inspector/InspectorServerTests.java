package io.writepath.web.inspector;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.post.PostLoader;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreSizes;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

class InspectorServerTests {

    /**
     * In a jar of jars the application's loader is not the system's, and a script on the class path is the former's.
     */
    @Test
    void answersWithTheClassLoaderOfTheApplicationThatStartedIt() throws Exception {
        AtomicReference<ClassLoader> seen = new AtomicReference<>();
        InspectorSettings settings = new InspectorSettings(InetAddress.getLoopbackAddress(), freePort(), "");
        InspectorServer server = new InspectorServer(settings, inspection(seen));
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader application = new URLClassLoader(new URL[0], before)) {
            thread.setContextClassLoader(application);
            server.start();
            ask(URI.create("http://127.0.0.1:%d/inspector/pending".formatted(settings.port())));
            assertThat(seen).hasValue(application);
        } finally {
            thread.setContextClassLoader(before);
            server.stop();
        }
    }

    /** As it runs with `java -jar` and nothing else said. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void listensOnLoopbackUnlessItIsTold(CapturedOutput output) {
        new SpringApplicationBuilder(InspectorAutoConfiguration.class)
                .web(WebApplicationType.NONE)
                .initializers(context -> {
                    var beans = context.getBeanFactory();
                    List.of(StoreInspector.class, PostLoader.class, StoreSizes.class)
                            .forEach(port -> beans.registerSingleton(port.getName(), unasked(port)));
                })
                .run("--INSPECTOR_PORT=0")
                .close();
        assertThat(output).contains("the inspector listens on /127.0.0.1:");
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void ask(URI uri) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> answer =
                    client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);
        }
    }

    /** Of an application that nobody writes to; what it counts in flight is asked on the server's own thread. */
    private static Inspection inspection(AtomicReference<ClassLoader> seen) {
        return new Inspection(
                unasked(StoreInspector.class),
                unasked(PostLoader.class),
                unasked(StoreSizes.class),
                Optional.empty(),
                List.of(),
                List.of(),
                List.of(),
                () -> {
                    seen.set(Thread.currentThread().getContextClassLoader());
                    return 0;
                });
    }

    private static <T> T unasked(Class<T> port) {
        return port.cast(Proxy.newProxyInstance(port.getClassLoader(), new Class<?>[] {port}, (self, method, given) -> {
            throw new UnsupportedOperationException(method.getName());
        }));
    }
}
