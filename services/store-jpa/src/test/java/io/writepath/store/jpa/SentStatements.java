package io.writepath.store.jpa;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.hibernate.resource.jdbc.spi.StatementInspector;

/** Every statement Hibernate sends, as it sends it. Hibernate makes its own instance, so that they share the list. */
public final class SentStatements implements StatementInspector {

    private static final long serialVersionUID = 1L;
    private static final List<String> SENT = new CopyOnWriteArrayList<>();

    static List<String> sent() {
        return List.copyOf(SENT);
    }

    static void clear() {
        SENT.clear();
    }

    @Override
    public String inspect(String sql) {
        SENT.add(sql);
        return sql;
    }
}
