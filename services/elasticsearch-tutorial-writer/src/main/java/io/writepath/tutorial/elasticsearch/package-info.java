/**
 * Writes straight to Elasticsearch with the defaults of Spring Boot and of Elasticsearch's client (baseline): one
 * request a document. No code here bounds a wait or knows a repetition.
 */
@NullMarked
package io.writepath.tutorial.elasticsearch;

import org.jspecify.annotations.NullMarked;
