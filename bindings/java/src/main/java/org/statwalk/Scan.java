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

    private final Tables tables;
    private final ScanOptions options;
    private final List<FileSystemException> errors = new ArrayList<>();
    private int errorCount;
    private boolean hasSkipped;
    private Rows current = NO_ROWS;
    private int row;
    private volatile boolean isClosed;

    Scan(Path directory, ScanOptions options) throws IOException {
        refuseOthers(directory);
        // The exception of the JDK where it cannot be opened.
        Files.newDirectoryStream(directory).close();
        this.options = options;
        byte[] root = rootOf(directory, Files.isSymbolicLink(directory));
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
            return new byte[] {'.'};
        }
        if (!isLink) {
            return bytes;
        }
        byte[] root = Arrays.copyOf(bytes, bytes.length + 1);
        root[bytes.length] = '/';
        return root;
    }

    private void report(EntryError error) {
        if (options.onError != null) {
            options.onError.accept(error.exception());
            return;
        }
        errorCount++;
        if (errors.size() < ERRORS_KEPT) {
            errors.add(error.exception());
        }
    }

    /** The next entry; null at the end. */
    AttributedPath next() throws IOException {
        do {
            Rows rows = current;
            while (row < rows.length) {
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
        // Only directories can lie below one that was skipped since their table came.
        if (rows.ids == null || options.prune == null) {
            return true;
        }
        if (hasSkipped && tables.isSkipped(rows.dirs[at])) {
            return false;
        }
        if (options.prune.test(new AttributedPath(rows, at))) {
            tables.skip(rows.ids[at]);
            hasSkipped = true;
        }
        return true;
    }

    /** Goes on to the rows that come next; false at the end. */
    private boolean nextRows() throws IOException {
        row = 0;
        current = NO_ROWS;
        if (isClosed) {
            return false;
        }
        Rows rows = tables.next();
        if (rows == null) {
            end();
            return false;
        }
        current = rows;
        return true;
    }

    private void end() throws IOException {
        boolean wasClosed = isClosed;
        isClosed = true;
        if (wasClosed) {
            return;
        }
        ScanEnd how = tables.end();
        if (options.onError == null && (how != ScanEnd.COMPLETE || errorCount > 0)) {
            throw new IncompleteScanException(errors, errorCount);
        }
    }

    @Override
    public void close() {
        isClosed = true;
        tables.close();
    }
}
