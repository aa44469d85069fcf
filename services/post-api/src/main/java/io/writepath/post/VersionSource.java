package io.writepath.post;

import java.util.Map;

/** Versions a component runs with or talks to, asked of the running system: {@code postgresql} to {@code 18.6}. */
public interface VersionSource {

    Map<String, String> versions();
}
