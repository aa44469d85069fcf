/** Writes straight to PostgreSQL with the defaults of Spring Boot. */
@NullMarked
package io.writepath.tutorial.writer;

import org.jspecify.annotations.NullMarked;
