// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;

/** A scan that gives batches. One thread at a time uses it; any may close it. */
interface Batches extends AutoCloseable {
    /** The directories and the other entries of the next batch; null at the end. Errors go to
     * the function that the scan was opened with. */
    Rows[] next() throws IOException;

    /** Reads nothing below a directory that came, as far as nobody has. */
    void skip(int directory);

    /** How the scan ended; meaningful after the last batch. */
    ScanEnd end();

    @Override
    void close();
}
