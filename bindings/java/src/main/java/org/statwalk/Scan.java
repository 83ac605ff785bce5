// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Entries of a scan, one after another, without the directory that was given. */
final class Scan implements AutoCloseable {
    private static final int ERRORS_KEPT = 1000;
    private static final Rows NO_ROWS = new Rows();
    /** The root of a scan stands before all names, and an empty path has no bytes for that. */
    private static final byte[] CURRENT = {'.', '/'};

    private final Tables tables;
    private final ScanOptions options;
    private final List<FileSystemException> errors = new ArrayList<>();
    /** How many bytes of each path the caller has not given: those of "./" before all names. */
    private final int cut;
    private int errorCount;
    private boolean hasSkipped;
    private Rows current = NO_ROWS;
    private int row;
    /** Whether it has come to its end. */
    private boolean isOver;
    private volatile boolean isClosed;

    Scan(Path directory, ScanOptions options) throws IOException {
        refuseOthers(directory);
        // The exception of the JDK where it cannot be opened.
        Files.newDirectoryStream(directory).close();
        this.options = options;
        byte[] root = rootOf(directory, Files.isSymbolicLink(directory));
        cut = directory.toString().isEmpty() ? CURRENT.length : 0;
        tables = Tables.open(List.of(root), options, this::report);
    }

    /** The system knows paths of the default file system alone. */
    static void refuseOthers(Path path) {
        if (path.getFileSystem() != FileSystems.getDefault()) {
            throw new ProviderMismatchException("statwalk reads the default file system, not "
                    + path.getFileSystem().provider().getScheme() + ":");
        }
    }

    /** The root of a scan. What a link leads to is read with a slash at its end. */
    static byte[] rootOf(Path directory, boolean isLink) {
        byte[] bytes = PathBytes.of(directory);
        if (bytes.length == 0) {
            return Arrays.copyOf(CURRENT, 1);
        }
        if (!isLink) {
            return bytes;
        }
        byte[] root = Arrays.copyOf(bytes, bytes.length + 1);
        root[bytes.length] = '/';
        return root;
    }

    private void report(EntryError error) {
        byte[] path = error.path();
        if (path.length > cut) {
            path = Arrays.copyOfRange(path, cut, path.length);
        }
        if (options.onError != null) {
            options.onError.accept(error.withPath(path).exception());
            return;
        }
        errorCount++;
        if (errors.size() < ERRORS_KEPT) {
            errors.add(error.withPath(path).exception());
        }
    }

    /** Whether it was closed before its end. */
    boolean isCutShort() {
        return isClosed && !isOver;
    }

    /** The next entry; null at the end, and once it is closed. */
    AttributedPath next() throws IOException {
        do {
            Rows rows = current;
            while (row < rows.length && !isClosed) {
                int at = row++;
                if (isWanted(rows, at)) {
                    return new AttributedPath(rows, at);
                }
            }
        } while (nextRows());
        return null;
    }

    /** Whether a row is an entry for the caller. A directory is asked about when it comes. */
    private boolean isWanted(Rows rows, int at) {
        if (rows.isRoot(at)) {
            return false;
        }
        // A table without directories came after those above, which were asked about.
        if (rows.ids == null || options.prune == null) {
            return true;
        }
        if (hasSkipped && tables.isSkipped(rows.dirs[at])) {
            return false;
        }
        if (rows.isDirectory(at) && options.prune.test(new AttributedPath(rows, at))) {
            tables.skip(rows.ids[at]);
            hasSkipped = true;
        }
        return true;
    }

    /** Goes on to the rows that come next; false at the end, and once it is closed. */
    private boolean nextRows() throws IOException {
        row = 0;
        current = NO_ROWS;
        if (isOver || isClosed) {
            return false;
        }
        Rows rows = tables.next();
        if (rows == null) {
            end();
            return false;
        }
        rows.cut = cut;
        current = rows;
        return true;
    }

    private void end() throws IOException {
        ScanEnd how = tables.end();
        isOver = how != null;
        if (!isOver || options.onError != null) {
            return;
        }
        if (how != ScanEnd.COMPLETE || errorCount > 0) {
            throw new IncompleteScanException(errors, errorCount);
        }
    }

    @Override
    public void close() {
        isClosed = true;
        tables.close();
    }
}
