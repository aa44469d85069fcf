package io.writepath.web.inspector;

import java.net.InetAddress;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Where the inspector listens, and for whom.
 *
 * @param address loopback, but in a container, which has a network of its own
 * @param port 0 for one that is free
 * @param token what a request must know to change data; where it is empty, none may
 */
@ConfigurationProperties("writepath.inspector")
record InspectorSettings(InetAddress address, int port, String token) {}
