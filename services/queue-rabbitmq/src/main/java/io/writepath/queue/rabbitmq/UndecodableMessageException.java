package io.writepath.queue.rabbitmq;

/** Something in a message that is not a post, and says why; it is parked. */
public final class UndecodableMessageException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public UndecodableMessageException(String message) {
        super(message);
    }

    public UndecodableMessageException(String message, Throwable cause) {
        super(message, cause);
    }
}
