// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.nio.file.FileSystemException;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Options of a scan. Each method gives other options, and changes none.
 *
 * <pre>{@code
 * ScanOptions options = ScanOptions.DEFAULT.withPrune(directory -> directory.name().equals(".git"));
 * try (Stream<AttributedPath> entries = Statwalk.walk(Path.of("."), options)) {
 *     long bytes = entries.filter(AttributedPath::hasAttributes)
 *             .mapToLong(entry -> entry.attributes().size()).sum();
 * }
 * }</pre>
 */
public final class ScanOptions {
    // The bits are those of statwalk.h.
    private static final int ONE_FILE_SYSTEM = 1;
    private static final int FOLLOW_LINKS = 1 << 1;
    private static final int KERNEL_FILE_SYSTEMS = 1 << 2;
    private static final int GITIGNORE = 1 << 4;
    private static final int SORT = 1 << 5;
    private static final int CONTENTS_FIRST = 1 << 6;
    /** No bit of statwalk.h: it asks for fewer columns. */
    private static final int NAMES_ALONE = 1 << 31;

    /** All of the tree, and an exception at the end of an incomplete scan. */
    public static final ScanOptions DEFAULT =
            new ScanOptions(Integer.MAX_VALUE, 0, 0, 0, List.of(), null, null);

    final int maxDepth;
    final int minDepth;
    final int threads;
    private final int flags;
    final List<byte[]> excluded;
    /** Null where the end of an incomplete scan is an exception. */
    final Consumer<? super FileSystemException> onError;
    /** Null where nothing is left out. */
    final Predicate<? super AttributedPath> prune;

    private ScanOptions(
            int maxDepth,
            int minDepth,
            int threads,
            int flags,
            List<byte[]> excluded,
            Consumer<? super FileSystemException> onError,
            Predicate<? super AttributedPath> prune) {
        if (prune != null && (flags & CONTENTS_FIRST) != 0) {
            throw new IllegalArgumentException("nothing can be left out by withPrune with"
                    + " withContentsFirst: all below a directory comes before it");
        }
        this.maxDepth = maxDepth;
        this.minDepth = minDepth;
        this.threads = threads;
        this.flags = flags;
        this.excluded = excluded;
        this.onError = onError;
        this.prune = prune;
    }

    static int requireNotNegative(String name, int number) {
        if (number < 0) {
            throw new IllegalArgumentException(
                    name + " is a whole number from 0 on, and not " + number);
        }
        return number;
    }

    /** The flags as {@code sw_scan_set_options} takes them. */
    int nativeFlags() {
        return flags & ~NAMES_ALONE;
    }

    boolean hasNamesAlone() {
        return (flags & NAMES_ALONE) != 0;
    }

    boolean followsLinks() {
        return (flags & FOLLOW_LINKS) != 0;
    }

    private ScanOptions with(int flag) {
        return new ScanOptions(maxDepth, minDepth, threads, flags | flag, excluded, onError, prune);
    }

    /** The number of threads; 0 lets the scan decide.
     *
     * @param count the number
     * @return the options
     * @throws IllegalArgumentException for a negative number */
    public ScanOptions withThreads(int count) {
        requireNotNegative("threads", count);
        return new ScanOptions(maxDepth, minDepth, count, flags, excluded, onError, prune);
    }

    /** How deep the scan goes: a root has depth 0, and its entries have depth 1.
     *
     * @param depth the depth
     * @return the options
     * @throws IllegalArgumentException for a negative number */
    public ScanOptions withMaxDepth(int depth) {
        requireNotNegative("maxDepth", depth);
        return new ScanOptions(depth, minDepth, threads, flags, excluded, onError, prune);
    }

    /** Give nothing above this depth; the directories there are read all the same.
     *
     * @param depth the depth
     * @return the options
     * @throws IllegalArgumentException for a negative number */
    public ScanOptions withMinDepth(int depth) {
        requireNotNegative("minDepth", depth);
        return new ScanOptions(maxDepth, depth, threads, flags, excluded, onError, prune);
    }

    /** Sort names within a directory by their bytes, and go into each at once.
     *
     * <p>A parallel stream has no order all the same.
     *
     * @return the options */
    public ScanOptions withSort() {
        return with(SORT);
    }

    /** Give a directory after all that is below it, and sort names.
     *
     * @return the options
     * @throws IllegalArgumentException with {@link #withPrune}: nothing could be left out */
    public ScanOptions withContentsFirst() {
        return with(CONTENTS_FIRST);
    }

    /** Stay on the file system of the root.
     *
     * @return the options */
    public ScanOptions withOneFileSystem() {
        return with(ONE_FILE_SYSTEM);
    }

    /** A symbolic link stands for what it leads to, and nothing is listed twice.
     *
     * @return the options */
    public ScanOptions withFollowLinks() {
        return with(FOLLOW_LINKS);
    }

    /** Enter /proc and its like, which are left out otherwise.
     *
     * @return the options */
    public ScanOptions withKernelFileSystems() {
        return with(KERNEL_FILE_SYSTEMS);
    }

    /**
     * Leave out paths that fit a shell pattern, or one of several, as du --exclude does.
     *
     * <p>These patterns take the place of earlier ones. {@code *} fits bytes that are no text, too.
     *
     * @param patterns the patterns
     * @return the options
     * @throws IllegalArgumentException for a pattern that no path can fit, because it has a NUL
     *     or a letter that {@code sun.jnu.encoding} lacks
     */
    public ScanOptions withExclude(String... patterns) {
        List<byte[]> given = Stream.of(patterns).map(PathBytes::ofPattern).toList();
        return new ScanOptions(maxDepth, minDepth, threads, flags, given, onError, prune);
    }

    /** Leave out what .gitignore files name, by the rules of git.
     *
     * @return the options */
    public ScanOptions withGitignore() {
        return with(GITIGNORE);
    }

    /**
     * Names alone are read, and which entries are directories. That costs no call for an entry,
     * and {@link AttributedPath#attributes} asks the JDK.
     *
     * @return the options
     */
    public ScanOptions withNamesAlone() {
        return with(NAMES_ALONE);
    }

    /**
     * The same with a place for errors. Without it, the end of an incomplete scan is an
     * {@link IncompleteScanException}.
     *
     * <p>Each error is the exception of the JDK for its number, such as an
     * {@link java.nio.file.AccessDeniedException}. A directory that others changed each time it
     * was read is a {@link FileSystemException} that says so.
     *
     * @param consumer gets each error
     * @return the options
     */
    public ScanOptions withOnError(Consumer<? super FileSystemException> consumer) {
        return new ScanOptions(maxDepth, minDepth, threads, flags, excluded, consumer, prune);
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
     * @return the options
     * @throws IllegalArgumentException with {@link #withContentsFirst} */
    public ScanOptions withPrune(Predicate<? super AttributedPath> decision) {
        return new ScanOptions(maxDepth, minDepth, threads, flags, excluded, onError, decision);
    }
}
