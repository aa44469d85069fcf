package io.writepath.post;

import java.util.Map;

/**
 * What an application that serves reads alone was loaded with, before it served the first one.
 *
 * @param rows by table
 * @param digest SHA-256, in hex, of every row of every table; the same for the same sizes
 */
public record LoadedData(Map<String, Long> rows, String digest) {}
