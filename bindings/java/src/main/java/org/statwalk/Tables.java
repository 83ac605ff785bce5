// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;

/** A scan that gives tables. One thread at a time uses it; any may close it. */
interface Tables extends AutoCloseable {
    /** The next directories or other entries, a directory before all that is below it; null at
     * the end. Errors go to the function that the scan was opened with. */
    Rows next() throws IOException;

    /** Reads nothing below a directory that came, as far as nobody has. No later table has
     * anything below it. */
    void skip(int directory);

    /** Whether a directory is skipped, or lies below one that is. */
    boolean isSkipped(int directory);

    /** How the scan ended; meaningful after the last table. */
    ScanEnd end();

    @Override
    void close();
}
