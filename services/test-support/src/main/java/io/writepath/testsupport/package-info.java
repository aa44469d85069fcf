/**
 * What integration tests of every module need: real backing services, a breakable connection to them, the house rules.
 */
@NullMarked
package io.writepath.testsupport;

import org.jspecify.annotations.NullMarked;
