/**
 * JPA as tutorials have it, to be measured beside the store that this project stands for: numbers made by the database,
 * {@code save()}, Spring Boot's own pool. No code here bounds a wait or knows a repetition.
 */
@NullMarked
package io.writepath.store.tutorial;

import org.jspecify.annotations.NullMarked;
