/** Variants that must come out worse: they prove that the measurement sees it. No production code knows of them. */
@NullMarked
package io.writepath.controls;

import org.jspecify.annotations.NullMarked;
