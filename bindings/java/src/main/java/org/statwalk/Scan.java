// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Entries of a scan, one after another, without the directory that was given. */
final class Scan implements AutoCloseable {
    private static final int ERRORS_KEPT = 1000;

    private final Batches batches;
    private final byte[] root;
    private final List<EntryException> errors = new ArrayList<>();
    private final boolean collects;
    private Rows[] tables = {};
    private int table;
    private int row;
    private boolean isRootGiven;
    private volatile boolean isClosed;

    Scan(Path directory, ScanOptions options) throws IOException {
        if (!Files.isDirectory(directory)) {
            // The exception of the JDK where there is nothing.
            Files.readAttributes(directory, "size");
            throw new NotDirectoryException(directory.toString());
        }
        String text = directory.toString();
        boolean isLink = Files.readAttributes(directory,
                java.nio.file.attribute.BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .isSymbolicLink();
        if (text.isEmpty()) {
            text = ".";
        } else if (isLink) {
            text += "/";
        }
        root = text.getBytes(AttributedPath.encoding());
        collects = options.onError() == null;
        batches = NativeBatches.open(root, options, error -> {
            if (!collects) {
                options.onError().accept(error);
            } else if (errors.size() < ERRORS_KEPT) {
                errors.add(error);
            }
        });
    }

    /** The next entry; null at the end. */
    AttributedPath next() throws IOException {
        while (true) {
            while (table < tables.length) {
                Rows rows = tables[table];
                if (row == rows.length) {
                    table++;
                    row = 0;
                    continue;
                }
                int at = row++;
                if (isRoot(rows, at)) {
                    isRootGiven = true;
                    continue;
                }
                return new AttributedPath(rows, at);
            }
            if (isClosed) {
                return null;
            }
            tables = batches.next();
            table = row = 0;
            if (tables == null) {
                tables = new Rows[0];
                boolean wasClosed = isClosed;
                isClosed = true;
                if (!wasClosed && collects && !batches.isComplete()) {
                    throw new IncompleteScanException(errors);
                }
                return null;
            }
        }
    }

    private boolean isRoot(Rows rows, int at) {
        return !isRootGiven
                && rows.ids != null
                && Arrays.equals(root, 0, root.length, rows.paths,
                        (int) rows.pathOffsets[at], (int) rows.pathOffsets[at + 1]);
    }

    @Override
    public void close() {
        isClosed = true;
        batches.close();
    }
}
