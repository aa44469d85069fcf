/** Publishes with the defaults of Spring Boot. */
@NullMarked
package io.writepath.tutorial.producer;

import org.jspecify.annotations.NullMarked;
