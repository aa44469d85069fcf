package io.writepath.store.elasticsearch;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What this store must know of the application that it serves.
 *
 * @param inFlightMax requests that are served at once; each may need a connection
 */
@ConfigurationProperties("writepath")
record AdmissionSettings(@DefaultValue("256") int inFlightMax) {}
