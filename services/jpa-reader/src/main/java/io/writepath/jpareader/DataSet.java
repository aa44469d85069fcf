package io.writepath.jpareader;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Every row that the application serves, the same for the same sizes; each follows from its number alone. */
final class DataSet {

    static final int ARTWORKS_EACH = 10;

    private static final int AMOUNT_MAX = 1_000;
    private static final int FOR_SALE_ONE_IN = 8;
    private static final int EXHIBITIONS_EACH = 10;

    private final ReaderSettings sizes;

    DataSet(ReaderSettings sizes) {
        this.sizes = sizes;
    }

    /** In an order in which none refers to one that follows. */
    List<Table> tables() {
        long exhibitions = sizes.exhibitions();
        return List.of(
                new Table("users", "users", "id, name, password_hash", sizes.users(), DataSet::user),
                new Table("points", "point", "id, user_id, amount", sizes.points(), this::point),
                new Table("artists", "artist", "id, name", artists(), id -> id + "\t" + artistName(id)),
                new Table(
                        "exhibitions",
                        "exhibition",
                        "id, title, artist_id, author_name, sale, artwork_ids",
                        exhibitions,
                        this::exhibition),
                new Table(
                        "artworks",
                        "artwork",
                        "id, exhibition_id, title, for_sale",
                        exhibitions * ARTWORKS_EACH,
                        DataSet::artwork));
    }

    /** Fast on purpose: names and passwords are generated, and a log-in is to cost a query. */
    static byte[] passwordHash(String name, String password) {
        return sha256().digest((name + ":" + password).getBytes(StandardCharsets.UTF_8));
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException("every Java platform has SHA-256", absent);
        }
    }

    private static String user(long id) {
        String hash = HexFormat.of().formatHex(passwordHash("user-" + id, "password-" + id));
        return "%d\tuser-%d\t\\\\x%s".formatted(id, id, hash);
    }

    private String point(long id) {
        long user = (id - 1) % sizes.users() + 1;
        return id + "\t" + user + "\t" + (1 + new SplittableRandom(id).nextInt(AMOUNT_MAX));
    }

    private long artists() {
        return Math.ceilDiv(sizes.exhibitions(), EXHIBITIONS_EACH);
    }

    private String exhibition(long id) {
        long artist = (id - 1) % artists() + 1;
        List<Long> artworks = LongStream.rangeClosed((id - 1) * ARTWORKS_EACH + 1, id * ARTWORKS_EACH)
                .boxed()
                .toList();
        String sale = copyText(artworks.stream().anyMatch(DataSet::isForSale));
        String ids = artworks.stream().map(String::valueOf).collect(Collectors.joining(",", "{", "}"));
        return String.join(
                "\t", Long.toString(id), "exhibition-" + id, Long.toString(artist), artistName(artist), sale, ids);
    }

    private static String artwork(long id) {
        long exhibition = (id - 1) / ARTWORKS_EACH + 1;
        return "%d\t%d\tartwork-%d\t%s".formatted(id, exhibition, id, copyText(isForSale(id)));
    }

    private static String artistName(long artist) {
        return "artist-" + artist;
    }

    private static boolean isForSale(long artwork) {
        return new SplittableRandom(artwork).nextInt(FOR_SALE_ONE_IN) == 0;
    }

    private static String copyText(boolean value) {
        return value ? "t" : "f";
    }

    /**
     * Rows of one table, as COPY writes and reads them.
     *
     * @param title what the inspector calls it
     * @param row of an id, from 1, without the end of its line
     */
    record Table(String title, String name, String columns, long rows, LongFunction<String> row) {}
}
