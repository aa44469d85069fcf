/** Consumes with the defaults of Spring Boot. */
@NullMarked
package io.writepath.tutorial.consumer;

import org.jspecify.annotations.NullMarked;
