package io.writepath.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A RabbitMQ of the tests' own, with the command that administers it. */
public final class RabbitService {

    private static final int CTL_TIMEOUT_S = 60;

    private final String host;
    private final int port;
    private final Ctl ctl;

    /** Runs {@code rabbitmqctl} with arguments and returns what it printed; throws when it fails. */
    interface Ctl {
        String run(List<String> arguments);
    }

    RabbitService(String host, int port, Ctl ctl) {
        this.host = host;
        this.port = port;
        this.ctl = ctl;
    }

    static RabbitService local(String address, String ctlCommand) {
        int colon = address.lastIndexOf(':');
        return new RabbitService(
                address.substring(0, colon),
                Integer.parseInt(address.substring(colon + 1)),
                arguments -> runLocally(ctlCommand, arguments));
    }

    public String host() {
        return host;
    }

    public int port() {
        return port;
    }

    /** host:port, as {@code SPRING_RABBITMQ_ADDRESSES} wants it. */
    public String address() {
        return host + ":" + port;
    }

    public String username() {
        return "writepath";
    }

    public String password() {
        return "writepath";
    }

    /** The same broker reached through another address: a proxy that a test can break. */
    public RabbitService through(TcpProxy proxy) {
        return new RabbitService("127.0.0.1", proxy.port(), ctl);
    }

    /** Runs {@code rabbitmqctl} with these arguments and returns what it printed; throws when it fails. */
    public String ctl(String... arguments) {
        return ctl.run(List.of(arguments));
    }

    private static String runLocally(String prefix, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(prefix.strip().split("\\s+")));
        command.addAll(arguments);
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(CTL_TIMEOUT_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException(command + " failed: " + output);
            }
            return output;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(command + " was interrupted", interrupted);
        }
    }
}
