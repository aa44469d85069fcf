package io.writepath.store.jpa;

import io.writepath.post.StoreSizes;
import java.sql.ResultSet;
import java.util.Map;
import java.util.TreeMap;

/** The table, what of it lies in its TOAST table, and each index; with the free space in them. */
final class PostgresSizes implements StoreSizes {

    private static final String INDEX = "index ";
    private static final String PARTS = """
            WITH heap AS (SELECT oid, nullif(reltoastrelid, 0) AS toast FROM pg_class WHERE oid = 'posts'::regclass)
            SELECT 'table', pg_table_size(oid) - coalesce(pg_total_relation_size(toast), 0) FROM heap
            UNION ALL SELECT 'toast', coalesce(pg_total_relation_size(toast), 0) FROM heap
            UNION ALL SELECT 'index ' || relname, pg_total_relation_size(indexrelid)
              FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = 'posts'::regclass
            """;

    private final PostgresInspector inspector;
    private final SearchIndex declared;

    PostgresSizes(PostgresInspector inspector, SearchIndex declared) {
        this.inspector = inspector;
        this.declared = declared;
    }

    @Override
    public Sizes sizes() {
        Map<String, Long> parts = inspector.ask(statement -> {
            Map<String, Long> read = new TreeMap<>();
            try (ResultSet rows = statement.executeQuery(PARTS)) {
                while (rows.next()) {
                    read.put(rows.getString(1), rows.getLong(2));
                }
            }
            return read;
        });
        long all = parts.values().stream().mapToLong(Long::longValue).sum();
        return new Sizes(inspector.count(), all, parts.get(INDEX + declared.indexName()), parts);
    }
}
