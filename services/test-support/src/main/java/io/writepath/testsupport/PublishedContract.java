package io.writepath.testsupport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The OpenAPI document as the application serves it, and whether an answer keeps to it. */
public final class PublishedContract {

    private static final JsonMapper JSON = new JsonMapper();

    private final Map<String, Object> document;

    public PublishedContract(String yaml) {
        this.document = new Yaml().load(yaml);
    }

    /** Fails unless this operation may answer with this status, media type, headers and properties. */
    public void assertAllows(String method, String path, HttpResponse<String> answer) {
        var responses = map(map(map(map(document, "paths"), path), method), "responses");
        String status = Integer.toString(answer.statusCode());
        assertThat(responses).as("answers of %s %s", method, path).containsKey(status);
        var response = resolve(map(responses, status));
        String type = answer.headers().firstValue("Content-Type").orElse("");
        assertThat(map(response, "content")).containsKey(type);
        if (response.containsKey("headers")) {
            map(response, "headers").keySet().forEach(name -> assertThat(
                            answer.headers().firstValue(name))
                    .as(name)
                    .isPresent());
        }
        assertKeeps(map(map(map(response, "content"), type), "schema"), JSON.readTree(answer.body()));
    }

    private void assertKeeps(Map<String, Object> reference, JsonNode value) {
        var schema = resolve(reference);
        switch (String.valueOf(schema.get("type"))) {
            case "string" -> assertThat(value.isString()).as(value.toString()).isTrue();
            case "integer" ->
                assertThat(value.isIntegralNumber()).as(value.toString()).isTrue();
            case "boolean" -> assertThat(value.isBoolean()).as(value.toString()).isTrue();
            case "array" -> value.forEach(item -> assertKeeps(map(schema, "items"), item));
            default -> assertObjectKeeps(schema, value);
        }
    }

    private void assertObjectKeeps(Map<String, Object> schema, JsonNode value) {
        var properties = map(schema, "properties");
        assertThat(value.propertyNames()).isSubsetOf(properties.keySet());
        assertThat((List<?>) schema.get("required"))
                .allSatisfy(name -> assertThat(value.has((String) name)).isTrue());
        value.propertyStream()
                .forEach(property -> assertKeeps(map(properties, property.getKey()), property.getValue()));
    }

    private Map<String, Object> resolve(Map<String, Object> reference) {
        if (!(reference.get("$ref") instanceof String pointer)) {
            return reference;
        }
        Map<String, Object> found = document;
        for (String step : pointer.substring("#/".length()).split("/", -1)) {
            found = map(found, step);
        }
        return found;
    }

    private static Map<String, Object> map(Map<String, Object> parent, String key) {
        return asMap(Objects.requireNonNull(parent.get(key), key));
    }

    @SuppressWarnings("unchecked") // YAML's maps have strings, or status codes in quotes, as keys
    private static Map<String, Object> asMap(Object value) {
        return (Map<String, Object>) value;
    }
}
