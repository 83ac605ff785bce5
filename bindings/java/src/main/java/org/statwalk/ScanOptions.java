// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Options of a scan.
 *
 * <pre>{@code
 * ScanOptions options = ScanOptions.DEFAULT.withPrune(directory -> directory.name().equals(".git"));
 * try (Stream<AttributedPath> entries = Statwalk.walk(Path.of("."), options)) {
 *     long bytes = entries.mapToLong(entry -> entry.attributes().size()).sum();
 * }
 * }</pre>
 *
 * @param maxDepth how deep it goes; 1 is one directory alone
 * @param threads the number of workers; 0 lets the scan decide
 * @param oneFileSystem whether other file systems are left out
 * @param onError gets each error; with null the end of the scan is an
 *     {@link IncompleteScanException}
 * @param prune decides for each directory whether all below it is left out; null leaves out
 *     nothing
 */
public record ScanOptions(
        int maxDepth,
        int threads,
        boolean oneFileSystem,
        Consumer<? super EntryException> onError,
        Predicate<? super AttributedPath> prune) {
    /** Refuses negative numbers.
     *
     * @throws IllegalArgumentException for a negative number */
    public ScanOptions {
        requireNotNegative("maxDepth", maxDepth);
        requireNotNegative("threads", threads);
    }

    static int requireNotNegative(String name, int number) {
        if (number < 0) {
            throw new IllegalArgumentException(
                    name + " is a whole number from 0 on, and not " + number);
        }
        return number;
    }

    /** All of the tree, and an exception at the end of an incomplete scan. */
    public static final ScanOptions DEFAULT =
            new ScanOptions(Integer.MAX_VALUE, 0, false, null, null);

    /** How deep the scan goes: a root has depth 0, and its entries have depth 1.
     *
     * @param depth the depth
     * @return the options
     * @throws IllegalArgumentException for a negative number */
    public ScanOptions withMaxDepth(int depth) {
        return new ScanOptions(depth, threads, oneFileSystem, onError, prune);
    }

    /** The number of threads; 0 lets the scan decide.
     *
     * @param count the number
     * @return the options
     * @throws IllegalArgumentException for a negative number */
    public ScanOptions withThreads(int count) {
        return new ScanOptions(maxDepth, count, oneFileSystem, onError, prune);
    }

    /** The same with a place for errors.
     *
     * @param consumer gets each error
     * @return the options */
    public ScanOptions withOnError(Consumer<? super EntryException> consumer) {
        return new ScanOptions(maxDepth, threads, oneFileSystem, consumer, prune);
    }

    /** Stay on the file system of the root.
     *
     * @return the options */
    public ScanOptions withOneFileSystem() {
        return new ScanOptions(maxDepth, threads, true, onError, prune);
    }

    /**
     * The same with directories whose content is left out.
     *
     * <p>The thread that takes the entries asks once for each directory that it sees, before any
     * entry below it comes. The directory itself is an entry. Nothing below it comes, and what
     * nobody has read by then is not read. No error below it comes. An error elsewhere comes
     * after the directories above it.
     *
     * @param decision answers with true where everything below a directory is left out
     * @return the options */
    public ScanOptions withPrune(Predicate<? super AttributedPath> decision) {
        return new ScanOptions(maxDepth, threads, oneFileSystem, onError, decision);
    }
}
