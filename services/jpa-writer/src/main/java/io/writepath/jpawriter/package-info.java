/** The direct write path: a POST is one insert, or shares one with others, and the 201 follows its commit. */
@NullMarked
package io.writepath.jpawriter;

import org.jspecify.annotations.NullMarked;
