/**
 * What every application has for its operator and for the harness, identical for every write path: defaults, and on a
 * management port with threads of its own Actuator and the inspector.
 */
@NullMarked
package io.writepath.inspector;

import org.jspecify.annotations.NullMarked;
