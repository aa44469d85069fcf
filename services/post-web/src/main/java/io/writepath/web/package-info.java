/** The one HTTP face of every write path: controller, error model, admission. */
@NullMarked
package io.writepath.web;

import org.jspecify.annotations.NullMarked;
