// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitor;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Entries of directory trees with their attributes.
 *
 * <p>Symbolic links are entries, unless {@link ScanOptions#withFollowLinks()} follows them. Closing
 * a stream ends its scan, and so does its last entry.
 *
 * <p>A stream that is neither closed nor read to its end holds a few threads and about ten
 * descriptors until it is collected. It takes little of the heap, so nothing presses the collector:
 * that can be minutes later, and a program that forgets a hundred streams can run out of
 * descriptors. Use try-with-resources.
 */
public final class Statwalk {
    private Statwalk() {}

    /**
     * Lists one directory.
     *
     * @param directory the directory
     * @return its entries, each with its attributes; close it
     * @throws IOException if it cannot be opened, as by
     *     {@link java.nio.file.Files#newDirectoryStream(Path)}
     */
    public static DirectoryStream<AttributedPath> list(Path directory) throws IOException {
        Scan scan = new Scan(directory, ScanOptions.DEFAULT.withMaxDepth(1));
        return new DirectoryStream<>() {
            private boolean isTaken;
            private volatile boolean isClosed;

            @Override
            public Iterator<AttributedPath> iterator() {
                if (isClosed) {
                    throw new IllegalStateException("the directory stream is closed");
                }
                if (isTaken) {
                    throw new IllegalStateException("the iterator was taken already");
                }
                isTaken = true;
                return new ListedEntries(scan);
            }

            @Override
            public void close() {
                isClosed = true;
                scan.close();
            }
        };
    }

    /**
     * Gives all entries below a directory while threads read them.
     *
     * <p>A directory comes before all that is below it; nothing else of the order is promised, and
     * nothing of a parallel stream. If something could not be read, its end is an
     * {@link UncheckedIOException} of an {@link IncompleteScanException}. If another thread closes
     * the stream, its end is an {@link IllegalStateException}, as with
     * {@link java.nio.file.Files#walk}.
     *
     * @param directory the directory, which is no entry itself
     * @return the entries; close it
     * @throws IOException if it cannot be opened, as by
     *     {@link java.nio.file.Files#newDirectoryStream(Path)}
     */
    public static Stream<AttributedPath> walk(Path directory) throws IOException {
        return walk(directory, ScanOptions.DEFAULT);
    }

    /**
     * As {@link #walk(Path)}, with options.
     *
     * @param directory the directory
     * @param options the options
     * @return the entries; close it
     * @throws IOException if it cannot be opened, as by
     *     {@link java.nio.file.Files#newDirectoryStream(Path)}
     */
    public static Stream<AttributedPath> walk(Path directory, ScanOptions options)
            throws IOException {
        Scan scan = new Scan(directory, options);
        return StreamSupport.stream(new WalkedEntries(scan), false).onClose(scan::close);
    }

    /**
     * Visits a tree depth-first, with the contract of
     * {@link java.nio.file.Files#walkFileTree(Path, FileVisitor)}.
     *
     * <p>The first thousand entries are read as the JDK does it. Then threads read ahead of the
     * visits: first one directory, then ever more, up to about twenty thousand entries. So a
     * visitor that skips a subtree or ends early saves most of the reading. Attributes are
     * {@code PosixFileAttributes}. While the visitor is called, nothing is open; only the call
     * before one of the first directories has that one open.
     *
     * <p>A directory that others change while it is read is visited as it was read last. No call
     * says so, as with the JDK; {@link #walk(Path)} ends with an exception then.
     *
     * @param start where to begin
     * @param visitor gets the entries
     * @return the start
     * @throws IOException if the visitor throws one
     */
    public static Path walkFileTree(Path start, FileVisitor<? super Path> visitor)
            throws IOException {
        return walkFileTree(start, Set.of(), Integer.MAX_VALUE, visitor);
    }

    /**
     * As {@link #walkFileTree(Path, FileVisitor)}, with the options of
     * {@link java.nio.file.Files#walkFileTree(Path, Set, int, FileVisitor)}.
     *
     * @param start where to begin
     * @param options whether links are followed
     * @param maxDepth how deep it goes; with 0 the start alone is visited
     * @param visitor gets the entries
     * @return the start
     * @throws IOException if the visitor throws one
     */
    public static Path walkFileTree(
            Path start, Set<FileVisitOption> options, int maxDepth, FileVisitor<? super Path> visitor)
            throws IOException {
        ScanOptions.requireNotNegative("maxDepth", maxDepth);
        Scan.refuseOthers(start);
        boolean followsLinks = false;
        for (FileVisitOption option : options) {
            followsLinks |= Objects.requireNonNull(option) == FileVisitOption.FOLLOW_LINKS;
        }
        new TreeVisit(Objects.requireNonNull(visitor), followsLinks, maxDepth).visit(start);
        return start;
    }

    /** The entries of a directory stream. */
    private static final class ListedEntries implements Iterator<AttributedPath> {
        private final Scan scan;
        private AttributedPath next;
        private boolean isOver;

        ListedEntries(Scan scan) {
            this.scan = scan;
        }

        @Override
        public boolean hasNext() {
            if (next == null && !isOver) {
                try {
                    next = scan.next();
                } catch (IOException failure) {
                    isOver = true;
                    throw new DirectoryIteratorException(failure);
                }
                isOver = next == null;
            }
            return next != null;
        }

        @Override
        public AttributedPath next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            AttributedPath entry = next;
            next = null;
            return entry;
        }
    }

    /** The entries of a stream. An iterator in their place cost two calls more for each. */
    private static final class WalkedEntries
            extends Spliterators.AbstractSpliterator<AttributedPath> {
        private final Scan scan;
        private boolean isOver;

        WalkedEntries(Scan scan) {
            super(Long.MAX_VALUE, Spliterator.DISTINCT | Spliterator.NONNULL);
            this.scan = scan;
        }

        /** Null at the end. */
        private AttributedPath next() {
            if (isOver) {
                return null;
            }
            try {
                AttributedPath entry = scan.next();
                if (entry == null && scan.isCutShort()) {
                    throw new IllegalStateException("the stream was closed before its end");
                }
                isOver = entry == null;
                return entry;
            } catch (IOException failure) {
                isOver = true;
                throw new UncheckedIOException(failure);
            }
        }

        @Override
        public boolean tryAdvance(Consumer<? super AttributedPath> action) {
            Objects.requireNonNull(action);
            AttributedPath entry = next();
            if (entry == null) {
                return false;
            }
            action.accept(entry);
            return true;
        }

        @Override
        public void forEachRemaining(Consumer<? super AttributedPath> action) {
            Objects.requireNonNull(action);
            for (AttributedPath entry; (entry = next()) != null; ) {
                action.accept(entry);
            }
        }
    }
}
