/** The write path without a queue or a database: HTTP in, one index behind it. */
@NullMarked
package io.writepath.elasticsearchwriter;

import org.jspecify.annotations.NullMarked;
