/**
 * JPA with Spring Boot defaults (baseline), measured next to the tuned store: keys made by the database,
 * {@code save()}, Spring Boot's own pool. No code here bounds a wait or knows a repetition.
 */
@NullMarked
package io.writepath.store.tutorial;

import org.jspecify.annotations.NullMarked;
