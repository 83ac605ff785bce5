// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads directories for a visit, and others that the visit will probably enter.
 *
 * <p>The first directories are listed by the JDK, on the thread of the visit, because a scan
 * begins threads. Then one scan reads what is left of them.
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
    /**
     * How many entries are visited before the first scan: it costs about as much as the JDK
     * takes for some hundred. A directory with more names is left to a scan.
     */
    static final int NEAR = 1000;
    /** With fewer names to come, the end of the visit is probably near. */
    private static final int NAMES_FEW = 16;
    /** Where the visitor leaves something out, scans read in vain, and the JDK does not. */
    private static final int NEAR_OF_SKIPPING = 16;
    /** How deep the second scan goes, and how many other directories it takes. */
    private static final int DEPTH_AFTER = 8;
    private static final int OTHERS_AFTER = 7;
    /** The room of a queue: mostly it holds one, and there are two for each directory. */
    private static final int FEW = 1;
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
        private final Deque<Part> entries = new ArrayDeque<>(FEW);
        private final Deque<Directory> directories = new ArrayDeque<>(FEW);
        /** Where the JDK has listed it: its entries, and how many of them were visited. */
        private List<Path> names;
        private int visited;
        /** Whether a scan has tried to read what is left. */
        private boolean hasGoneOn;
        /** Who it was then. */
        private PosixFileAttributes of;
        /** The last components of paths that were visited before a scan; null for none. */
        private Set<Path> known;
        /** The error that has cut the listing of the JDK short; null for none. */
        private IOException cut;

        /** How many entries that the JDK has listed are left. */
        private int namesLeft() {
            return names == null ? 0 : names.size() - visited;
        }

        /** Whether a scan can read what is left of the names. */
        boolean canGoOn() {
            return namesLeft() > 0 && !hasGoneOn;
        }

        /** Takes the next entry that the JDK has listed; null where there is none. */
        Path takeName() {
            return namesLeft() > 0 ? names.get(visited++) : null;
        }

        /** What was visited of the names comes no more, and the others by the rows of a scan. */
        private void leaveNames() {
            known = new HashSet<>();
            names.subList(0, visited).forEach(path -> known.add(path.getFileName()));
            names = null;
        }

        /** Whether an entry was visited before the scan. */
        private boolean isVisited(Rows rows, int row) {
            return known != null && known.contains(PathBytes.path(rows.name(row)));
        }

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
            names = null;
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

    /** How many entries are visited before the first scan. */
    private final int near;
    /** Entries that the JDK has listed and the visit has taken. */
    private int nearVisited;
    private boolean hasSkipped;
    private int depth = 1;
    /** How many of the directories that wait the next scan takes. */
    private int others;
    private int scans;
    /** Entries of all scans. */
    private long given;
    /** Errors in the middle of a directory, by its path. */
    private final Map<Path, FileSystemException> errors = new HashMap<>();

    ReadAhead(int near) {
        this.near = near;
    }

    /** Whether the JDK lists what comes next. */
    boolean isNear() {
        return nearVisited < (hasSkipped ? near * NEAR_OF_SKIPPING : near);
    }

    void visitName() {
        nearVisited++;
    }

    /**
     * Takes the names of a directory. Answers whether it did: a scan is better for many.
     */
    boolean list(Directory directory, Path path, PosixFileAttributes of,
            DirectoryStream<Path> listing) {
        List<Path> names = new ArrayList<>();
        try {
            for (Path name : listing) {
                if (names.size() == NEAR) {
                    return false;
                }
                names.add(name);
            }
        } catch (DirectoryIteratorException failure) {
            directory.cut = failure.getCause();
        }
        directory.path = path;
        directory.of = of;
        directory.names = names;
        directory.isRead = true;
        return true;
    }

    /**
     * Lists the directories that the visit has not left, where the JDK has listed them. What
     * was visited there comes no more. Does nothing while the end is near.
     */
    void goOn(List<Directory> open) throws IOException {
        int names = 0;
        for (Directory directory : open) {
            names += directory.namesLeft();
        }
        if (names < NAMES_FEW && nearVisited < 2 * near) {
            return;
        }
        List<Directory> wanted = new ArrayList<>();
        List<byte[]> roots = new ArrayList<>();
        Deque<Directory> waiting = new ArrayDeque<>();
        for (Directory directory : open) {
            if (directory.canGoOn()) {
                directory.hasGoneOn = true;
                directory.waiting = waiting;
                wanted.add(directory);
                roots.add(Scan.rootOf(directory.path, false));
            }
        }
        scans++;
        given += scan(wanted, roots, 1);
        // A visitor that leaves something out will probably leave out more.
        if (!hasSkipped) {
            depth = DEPTH_AFTER;
            others = OTHERS_AFTER;
        }
    }
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
        hasSkipped = true;
        if (directory.wasReadAhead) {
            halve();
        }
    }

    private void halve() {
        depth = Math.max(depth / 2, 1);
        others /= 2;
    }

    /** Takes the error that has cut the listing of a directory short; null for none. */
    IOException takeError(Directory directory, Path path) {
        if (directory.cut != null) {
            return directory.cut;
        }
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
                if (directory.names != null) {
                    if (!isRead || !rows.isKnown(row)
                            || !new Attributes(rows, row).fileKey().equals(directory.of.fileKey())) {
                        // Another one has its place. The JDK goes on with its names.
                        directory = new Directory();
                        directory.path = wanted.get(rows.roots[row]).path;
                        directory.waiting = new ArrayDeque<>();
                    } else {
                        directory.leaveNames();
                    }
                }
            } else {
                directory = new Directory();
                directory.rows = rows;
                directory.row = row;
                directory.above = known.get(rows.dirs[row]);
                directory.waiting = waiting;
                if (directory.above.isVisited(rows, row)) {
                    directory.isSkipped = true;
                } else {
                    directory.above.directories.add(directory);
                    if (rows.states[row] == AT_DEPTH_LIMIT) {
                        waiting.add(directory);
                    }
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
            if (known.get(rows.dirs[row]).isVisited(rows, row)) {
                last = -1;
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
