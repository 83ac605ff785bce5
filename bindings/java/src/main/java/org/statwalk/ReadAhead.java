// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads directories for a visit, and others that the visit will probably enter.
 *
 * <p>Scans grow by the rule of {@code bindings/stream/src/read_ahead.rs}. Its directories would
 * need a downcall and twenty copies each; here a whole table comes to the heap at once. A scan
 * reads all of the directories that it lists, so a visit knows where each ends.
 */
final class ReadAhead {
    /**
     * How many entries one scan should give at least: enough that the start of its threads is
     * nothing. It should also give half of what all scans have given, so that a visit of a
     * large tree waits for few of them.
     */
    private static final int ENOUGH = 20_000;
    private static final int OTHERS_MAX = 1024;
    private static final byte LISTED = 0;
    private static final byte AT_DEPTH_LIMIT = 4;

    /** A directory that the visit has not left. */
    static final class Directory {
        /** Its own row; null for the start, and for one behind a link. */
        private Rows rows;
        private int row;
        /** The directory that it is in; null for the start, and for one behind a link. */
        private Directory above;
        /** Of the root of a scan. */
        private Path path;
        /**
         * Directories that lie as deep as their scan went, reached from the same start or
         * behind the same link. So no scan meets a directory by two paths.
         */
        private Deque<Directory> waiting;
        private boolean isRead;
        private boolean wasReadAhead;
        /** Whether the visit has left it out. */
        private boolean isSkipped;
        /** Entries that are no directories: parts of columns. */
        private final Deque<Part> entries = new ArrayDeque<>();
        private final Deque<Directory> directories = new ArrayDeque<>();

        /** The row of the next entry that is no directory; negative where there is none. */
        Rows entryRows() {
            while (!entries.isEmpty() && entries.peek().at == entries.peek().end) {
                entries.remove();
            }
            return entries.isEmpty() ? null : entries.peek().rows;
        }

        /** The row in {@link #entryRows}. */
        int takeEntry() {
            return entries.peek().at++;
        }

        /** Takes the next directory in it; null where there is none. */
        Directory takeDirectory() {
            return directories.poll();
        }

        void skipRest() {
            entries.clear();
            directories.forEach(directory -> directory.isSkipped = true);
            directories.clear();
        }

        /** Another file has its place: nothing that was read is of it. */
        void forget() {
            skipRest();
            isRead = false;
            wasReadAhead = false;
            // It may be a directory of the tree, by a second path.
            waiting = null;
        }

        /** Whether the visit can still enter it. */
        private boolean isWanted() {
            for (Directory at = this; at != null; at = at.above) {
                if (at.isSkipped) {
                    return false;
                }
            }
            return !isRead;
        }

        private Path path() {
            Deque<byte[]> names = new ArrayDeque<>();
            Directory top = this;
            while (top.path == null) {
                names.push(top.name());
                top = top.above;
            }
            Path whole = top.path;
            for (byte[] name : names) {
                whole = whole.resolve(PathBytes.path(name));
            }
            return whole;
        }

        byte[] name() {
            return rows.name(row);
        }

        /** Null where a stat has failed. */
        Attributes attributes(Path path) {
            return rows.isKnown(row) ? new Attributes(rows, row, path) : null;
        }

        /** Whether its entries are at hand. */
        boolean isRead() {
            return isRead;
        }
    }

    /** A part of the columns of a table, with the entries of one directory. */
    private static final class Part {
        private final Rows rows;
        private int at;
        private int end;

        Part(Rows rows, int at) {
            this.rows = rows;
            this.at = at;
            this.end = at + 1;
        }
    }

    private int depth = 1;
    /** How many of the directories that wait the next scan takes. */
    private int others;
    private int scans;
    /** Entries of all scans. */
    private long given;
    /** Errors in the middle of a directory, by its path. */
    private final Map<Path, FileSystemException> errors = new HashMap<>();

    /**
     * Reads a directory, and perhaps others.
     *
     * @param isLink whether a link leads to it
     * @param left how deep the visit goes below the directory
     */
    void read(Directory directory, Path path, boolean isLink, int left) throws IOException {
        List<Directory> wanted = new ArrayList<>();
        List<byte[]> roots = new ArrayList<>();
        directory.path = path;
        if (isLink || directory.waiting == null) {
            directory.waiting = new ArrayDeque<>();
        }
        Deque<Directory> waiting = directory.waiting;
        wanted.add(directory);
        roots.add(Scan.rootOf(path, isLink));
        while (wanted.size() <= others && !waiting.isEmpty()) {
            Directory next = waiting.removeLast();
            if (next != directory && next.isWanted()) {
                next.path = next.path();
                wanted.add(next);
                roots.add(Scan.rootOf(next.path, false));
            }
        }
        scans++;
        int count = scan(wanted, roots, Math.min(depth, left));
        directory.isRead = true;
        directory.wasReadAhead = false;
        given += count;
        long enough = Math.max(ENOUGH, given / 2);
        if (count < enough / 2) {
            depth = Math.min(depth * 2, 1 << 20);
            others = Math.min(others * 2 + 1, OTHERS_MAX);
        } else if (count > enough * 2) {
            halve();
        }
    }

    /** How often directories were read. */
    int scans() {
        return scans;
    }

    /** Notes that the visit does not enter a directory. */
    void skip(Directory directory) {
        directory.isSkipped = true;
        if (directory.wasReadAhead) {
            halve();
        }
    }

    private void halve() {
        depth = Math.max(depth / 2, 1);
        others /= 2;
    }

    /** Takes the error that has cut the listing of a directory short; null for none. */
    IOException takeError(Path path) {
        return errors.isEmpty() ? null : errors.remove(path.normalize());
    }

    /** Reads some trees, and gives the number of entries. */
    private int scan(List<Directory> wanted, List<byte[]> roots, int depth) throws IOException {
        ScanOptions options = ScanOptions.DEFAULT.withMaxDepth(depth);
        List<Directory> known = new ArrayList<>();
        int count = 0;
        try (Tables tables = Tables.open(roots, options, this::note)) {
            for (Rows rows; (rows = tables.next()) != null; ) {
                count += rows.length;
                if (rows.ids == null) {
                    addEntries(rows, known);
                } else {
                    addDirectories(rows, known, wanted);
                }
            }
        }
        return count;
    }

    private void note(EntryError error) {
        // A directory that cannot be opened, and an entry without attributes, are asked again:
        // the visitor gets the exception of the JDK. Of a directory that others changed each
        // time it was read, the listing is whole but for these changes, and the contract has no
        // call for that: a failed visit would come in place of its entries, and an exception at
        // its end means that the listing was cut short.
        if (error.operation() == EntryError.READ && !error.isChange()) {
            errors.put(PathBytes.path(error.path()).normalize(), error.exception());
        }
    }

    private static void addDirectories(
            Rows rows, List<Directory> known, List<Directory> wanted) {
        Deque<Directory> waiting = wanted.get(0).waiting;
        for (int row = 0; row < rows.length; row++) {
            boolean isRead = rows.states[row] == LISTED;
            Directory directory;
            if (rows.isRoot(row)) {
                directory = wanted.get(rows.roots[row]);
            } else {
                directory = new Directory();
                directory.rows = rows;
                directory.row = row;
                directory.above = known.get(rows.dirs[row]);
                directory.above.directories.add(directory);
                directory.waiting = waiting;
                if (rows.states[row] == AT_DEPTH_LIMIT) {
                    waiting.add(directory);
                }
            }
            directory.isRead = isRead;
            directory.wasReadAhead = isRead;
            while (known.size() <= rows.ids[row]) {
                known.add(null);
            }
            known.set(rows.ids[row], directory);
        }
    }

    private static void addEntries(Rows rows, List<Directory> known) {
        int last = -1;
        Part part = null;
        for (int row = 0; row < rows.length; row++) {
            if (rows.isRoot(row)) {
                continue;
            }
            if (rows.dirs[row] == last) {
                part.end++;
                continue;
            }
            last = rows.dirs[row];
            part = new Part(rows, row);
            known.get(last).entries.add(part);
        }
    }
}
