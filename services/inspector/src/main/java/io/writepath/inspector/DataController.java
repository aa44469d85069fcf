package io.writepath.inspector;

import io.writepath.post.LoadedData;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the harness asks of an application that serves reads alone. */
@RestController
@ConditionalOnBean(LoadedData.class)
class DataController {

    private final LoadedData data;

    DataController(LoadedData data) {
        this.data = data;
    }

    @GetMapping("/inspector/data")
    LoadedData data() {
        return data;
    }
}
