/** Posts in Elasticsearch: one index, written with the post's id as the document's id, so that a retry is harmless. */
@NullMarked
package io.writepath.store.elasticsearch;

import org.jspecify.annotations.NullMarked;
