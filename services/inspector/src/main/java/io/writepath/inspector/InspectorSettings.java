package io.writepath.inspector;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * For whom the inspector works.
 *
 * @param token what a request must know to change data; where it is empty, none may
 */
@ConfigurationProperties("writepath.inspector")
record InspectorSettings(String token) {}
