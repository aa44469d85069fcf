@NullMarked
package io.writepath.elasticsearchwriter;

import org.jspecify.annotations.NullMarked;
