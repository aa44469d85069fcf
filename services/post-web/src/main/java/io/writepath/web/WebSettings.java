package io.writepath.web;

import jakarta.validation.constraints.Min;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * How requests are admitted.
 *
 * @param inFlightMax requests that are served at once; more are answered 503
 */
@Validated
@ConfigurationProperties("writepath")
record WebSettings(@DefaultValue("256") @Min(1) int inFlightMax) {}
