/** A sample of a new architecture: writes with the store's batch statement, one row at a time. */
@NullMarked
package io.writepath.sqlwriter;

import org.jspecify.annotations.NullMarked;
