// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;

/** A scan that gives batches. One thread at a time uses it; any may close it. */
interface Batches extends AutoCloseable {
    /** The rows of the next batch; null at the end. Errors go to the options. */
    Rows[] next() throws IOException;

    /** Whether something was not read; meaningful after the end. */
    boolean isComplete();

    @Override
    void close();
}
