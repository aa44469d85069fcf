package io.writepath.post;

/** Requests for posts being served now; only an application that takes posts has it. */
public interface InFlight {

    int inFlight();
}
