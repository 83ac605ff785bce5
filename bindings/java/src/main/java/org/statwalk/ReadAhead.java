// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
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
 * <p>Each scan goes deeper and takes more siblings than the one before it, until it gives
 * enough. A scan reads all of the directories that it lists, so a visit knows where each ends.
 */
final class ReadAhead {
    /**
     * How many entries one scan should give at least: enough that the start of its threads is
     * nothing. It should also give half of what all scans have given, so that a visit of a
     * large tree waits for few of them.
     */
    private static final int ENOUGH = 20_000;
    private static final int SIBLINGS_MAX = 1024;
    private static final byte LISTED = 0;

    /** A directory that the visit has not left. */
    static final class Directory {
        /** Its own row; null for the start, and for one behind a link. */
        private Rows rows;
        private int row;
        private boolean isRead;
        private boolean wasReadAhead;
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
            directories.clear();
        }

        byte[] name() {
            return rows.name(row);
        }

        /** Null where a stat has failed. */
        Attributes attributes(Path path) {
            return rows.isKnown(row) ? new Attributes(rows, row, () -> path) : null;
        }

        /** Whether its entries are at hand. */
        boolean isRead() {
            return isRead;
        }
    }

    /** A part of the columns of a batch, with the entries of one directory. */
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
    private int siblings = 1;
    /** Entries of all scans. */
    private long given;
    /** Errors in the middle of a directory, by its path. */
    private final Map<Path, EntryException> errors = new HashMap<>();

    /**
     * Reads a directory, and perhaps others.
     *
     * @param isLink whether a link leads to it
     * @param above the directory that it is in; null for the start
     * @param left how deep the visit goes below the directory
     */
    void read(Directory directory, Path path, boolean isLink, Directory above, int left)
            throws IOException {
        List<Directory> wanted = new ArrayList<>();
        List<byte[]> roots = new ArrayList<>();
        wanted.add(directory);
        roots.add(Scan.rootOf(path, isLink));
        if (above != null && siblings > 1) {
            for (Directory next : above.directories) {
                if (wanted.size() == siblings) {
                    break;
                }
                if (!next.isRead) {
                    wanted.add(next);
                    roots.add(Scan.rootOf(sibling(path, next), false));
                }
            }
        }
        int count = scan(wanted, roots, Math.min(depth, left));
        directory.isRead = true;
        directory.wasReadAhead = false;
        given += count;
        long enough = Math.max(ENOUGH, given / 2);
        if (count < enough / 2) {
            depth = Math.min(depth * 2, 1 << 20);
            siblings = Math.min(siblings * 2, SIBLINGS_MAX);
        } else if (count > enough * 2) {
            halve();
        }
    }

    private static Path sibling(Path path, Directory next) {
        Path name = PathBytes.path(next.name());
        Path parent = path.getParent();
        return parent == null ? name : parent.resolve(name);
    }

    /** Notes that the visit does not enter a directory. */
    void skip(Directory directory) {
        if (directory.wasReadAhead) {
            halve();
        }
    }

    private void halve() {
        depth = Math.max(depth / 2, 1);
        siblings = Math.max(siblings / 2, 1);
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
        try (Batches batches =
                NativeBatches.open(roots, Wanted.NAMES, options, this::note)) {
            for (Rows[] tables; (tables = batches.next()) != null; ) {
                count += tables[0].length + tables[1].length;
                addDirectories(tables[0], known, wanted);
                addEntries(tables[1], known);
            }
        }
        return count;
    }

    private void note(EntryException error) {
        // A directory that cannot be opened, and an entry without attributes, are asked again:
        // the visitor gets the exception of the JDK. A number of 0 stands for a directory that
        // others changed each time it was read. Its listing is whole but for these changes, and
        // the contract has no call for that: a failed visit would come in place of its entries,
        // and an exception at its end means that the listing was cut short.
        if (error.operation().equals("read") && error.number() != 0) {
            errors.put(PathBytes.path(error.pathBytes()).normalize(), error);
        }
    }

    private static void addDirectories(Rows rows, List<Directory> known, List<Directory> wanted) {
        for (int row = 0; row < rows.length; row++) {
            boolean isRead = rows.states[row] == LISTED;
            Directory directory = known(known, rows.ids[row]);
            if (rows.isRoot(row)) {
                // What came of it was kept apart, because its number was not known.
                Directory root = wanted.get(rows.roots[row]);
                root.entries.addAll(directory.entries);
                root.directories.addAll(directory.directories);
                known.set(rows.ids[row], root);
                directory = root;
            } else {
                directory.rows = rows;
                directory.row = row;
                known(known, rows.dirs[row]).directories.add(directory);
            }
            directory.isRead = isRead;
            directory.wasReadAhead = isRead;
        }
    }

    private static void addEntries(Rows rows, List<Directory> known) {
        int last = -1;
        Part part = null;
        for (int row = 0; row < rows.length; row++) {
            if (rows.dirs[row] == last) {
                part.end++;
                continue;
            }
            last = rows.dirs[row];
            part = new Part(rows, row);
            known(known, last).entries.add(part);
        }
    }

    private static Directory known(List<Directory> known, int id) {
        while (known.size() <= id) {
            known.add(null);
        }
        Directory directory = known.get(id);
        if (directory == null) {
            directory = new Directory();
            known.set(id, directory);
        }
        return directory;
    }
}
