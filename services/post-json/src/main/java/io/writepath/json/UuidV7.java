package io.writepath.json;

import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * UUID version 7 (RFC 9562): 48 bits of milliseconds, then randomness. Ids grow with time, so that inserts touch the
 * same few pages of an index.
 */
final class UuidV7 {

    private static final long VERSION = 0x7000L;
    private static final long VARIANT = 0x8000_0000_0000_0000L;

    private UuidV7() {}

    static UUID at(Instant moment) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long high = (moment.toEpochMilli() << 16) | VERSION | (random.nextLong() & 0x0fffL);
        long low = VARIANT | (random.nextLong() & 0x3fff_ffff_ffff_ffffL);
        return new UUID(high, low);
    }
}
