package io.writepath.testsupport;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A loopback proxy whose connections a test can cut (reset, and refused from then on) or freeze (open, but nothing
 * passes, in either direction, as when a host vanishes). Real sockets: clients see what they would see in production.
 */
public final class TcpProxy implements AutoCloseable {

    private enum Mode {
        FORWARDING,
        FROZEN,
        CUT,
        CLOSED
    }

    private static final int CHUNK_BYTES = 16 * 1024;

    private final InetSocketAddress target;
    private final ServerSocket listener;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private Mode mode = Mode.FORWARDING;

    private TcpProxy(InetSocketAddress target, ServerSocket listener) {
        this.target = target;
        this.listener = listener;
    }

    /** Listens on a free loopback port and forwards to the target. */
    public static TcpProxy to(String host, int port) {
        try {
            ServerSocket listener = new ServerSocket(0, 256, InetAddress.getLoopbackAddress());
            TcpProxy proxy = new TcpProxy(new InetSocketAddress(host, port), listener);
            Thread.ofVirtual().name("proxy-accept").start(proxy::acceptAll);
            return proxy;
        } catch (IOException noPort) {
            throw new UncheckedIOException(noPort);
        }
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** Resets every connection; new ones are reset as soon as they are made. */
    public void cut() {
        become(Mode.CUT);
        sockets.forEach(TcpProxy::reset);
    }

    /** Keeps every connection open and lets nothing pass; new ones are accepted and hear nothing. */
    public void freeze() {
        become(Mode.FROZEN);
    }

    /** Forwards again, what was held back too. */
    public void heal() {
        become(Mode.FORWARDING);
    }

    @Override
    public void close() {
        become(Mode.CLOSED);
        sockets.forEach(TcpProxy::reset);
        try {
            listener.close();
        } catch (IOException alreadyGone) {
            throw new UncheckedIOException(alreadyGone);
        }
    }

    private void become(Mode next) {
        lock.lock();
        try {
            mode = next;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits while frozen; false once connections must end. */
    private boolean mayPass() {
        lock.lock();
        try {
            while (mode == Mode.FROZEN) {
                changed.awaitUninterruptibly();
            }
            return mode == Mode.FORWARDING;
        } finally {
            lock.unlock();
        }
    }

    private void acceptAll() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                sockets.add(client);
                Thread.ofVirtual().name("proxy-connect").start(() -> connect(client));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void connect(Socket client) {
        Socket server = new Socket();
        sockets.add(server);
        try {
            if (!mayPass()) {
                throw new IOException("cut");
            }
            server.connect(target);
            server.setTcpNoDelay(true);
            client.setTcpNoDelay(true);
            Thread.ofVirtual().name("proxy-up").start(() -> pump(client, server));
            pump(server, client);
        } catch (IOException refused) {
            end(client, server);
        }
    }

    private void pump(Socket from, Socket to) {
        byte[] chunk = new byte[CHUNK_BYTES];
        try {
            InputStream in = from.getInputStream();
            for (int length = in.read(chunk); length >= 0 && mayPass(); length = in.read(chunk)) {
                to.getOutputStream().write(chunk, 0, length);
            }
        } catch (IOException ended) {
            // Either side may end a connection at any time; the other side learns it below.
        }
        end(from, to);
    }

    private void end(Socket one, Socket other) {
        reset(one);
        reset(other);
        sockets.remove(one);
        sockets.remove(other);
    }

    /** Closes with a reset instead of a goodbye. */
    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException alreadyGone) {
            // Gone is what it should be.
        }
    }
}
