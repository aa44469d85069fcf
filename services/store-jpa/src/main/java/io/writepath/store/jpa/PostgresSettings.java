package io.writepath.store.jpa;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What the environment says about the table of posts; each component is the variable {@code POSTGRES_<NAME>}.
 *
 * @param searchIndex what helps a search, and is paid for by every write
 */
@ConfigurationProperties("postgres")
record PostgresSettings(@DefaultValue("none") SearchIndex searchIndex) {}
