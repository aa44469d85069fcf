package io.writepath.store.jpa;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The table of posts.
 *
 * @param searchIndex what helps a search, and is paid for by every write
 */
@ConfigurationProperties("writepath.postgres")
record PostgresSettings(@DefaultValue("none") SearchIndex searchIndex) {}
