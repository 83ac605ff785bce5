// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.util.function.Consumer;

/**
 * Options of a scan.
 *
 * @param maxDepth how deep it goes; 1 is one directory alone
 * @param threads the number of workers; 0 lets the scan decide
 * @param oneFileSystem whether other file systems are left out
 * @param onError gets each error; with null the end of the scan is an
 *     {@link IncompleteScanException}
 */
public record ScanOptions(
        int maxDepth, int threads, boolean oneFileSystem, Consumer<? super EntryException> onError) {
    /** All of the tree, and an exception at the end of an incomplete scan. */
    public static final ScanOptions DEFAULT = new ScanOptions(Integer.MAX_VALUE, 0, false, null);

    /** The same with another depth.
     *
     * @param depth how deep the scan goes
     * @return the options */
    public ScanOptions withMaxDepth(int depth) {
        return new ScanOptions(depth, threads, oneFileSystem, onError);
    }

    /** The same with another number of workers.
     *
     * @param count the number
     * @return the options */
    public ScanOptions withThreads(int count) {
        return new ScanOptions(maxDepth, count, oneFileSystem, onError);
    }

    /** The same with a place for errors.
     *
     * @param consumer gets each error
     * @return the options */
    public ScanOptions withOnError(Consumer<? super EntryException> consumer) {
        return new ScanOptions(maxDepth, threads, oneFileSystem, consumer);
    }

    /** The same, on the file system of the root alone.
     *
     * @return the options */
    public ScanOptions withOneFileSystem() {
        return new ScanOptions(maxDepth, threads, true, onError);
    }
}
