/** Reads alone: sessions, lists, a sum and a feed over PostgreSQL through JPA, on data that is loaded at the start. */
@NullMarked
package io.writepath.jpareader;

import org.jspecify.annotations.NullMarked;
