@NullMarked
package io.writepath.store.elasticsearch;

import org.jspecify.annotations.NullMarked;
