// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** A scan that gives tables. One thread at a time uses it; any may close it. */
interface Tables extends AutoCloseable {
    /** The first Java with the foreign function interface, by which the library is called. */
    int OLDEST_JAVA = 22;

    /** Begins a scan. An earlier Java has no class that {@link NativeTables} needs. */
    static Tables open(
            List<byte[]> roots, ScanOptions options, Consumer<EntryError> onError)
            throws IOException {
        int java = Runtime.version().feature();
        if (java < OLDEST_JAVA) {
            throw new UnsupportedOperationException("statwalk needs Java " + OLDEST_JAVA
                    + " or newer, for the foreign function interface; this is Java " + java);
        }
        return NativeTables.open(roots, options, onError);
    }

    /** The next directories or other entries, a directory before all that is below it; null at
     * the end. Errors go to the function that the scan was opened with. */
    Rows next() throws IOException;

    /** Reads nothing below a directory that came, as far as nobody has. No later table has
     * anything below it. */
    void skip(int directory);

    /** Whether a directory is skipped, or lies below one that is. */
    boolean isSkipped(int directory);

    /** How the scan ended; null where it was closed before. */
    ScanEnd end();

    @Override
    void close();
}
