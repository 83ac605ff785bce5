// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;

/** An entry and its attributes: a view into a table, which it keeps alive. */
public final class AttributedPath {
    private final Rows rows;
    private final int row;

    AttributedPath(Rows rows, int row) {
        this.rows = rows;
        this.row = row;
    }

    /** The path, beginning with the path that the caller gave. It leads to the file for every
     * name, as paths of the JDK's own walkers do.
     *
     * @return the path */
    public Path path() {
        return PathBytes.path(pathBytes());
    }

    /** The bytes of the path.
     *
     * @return a copy */
    public byte[] pathBytes() {
        return rows.path(row);
    }

    /** The bytes of the name.
     *
     * @return a copy */
    public byte[] nameBytes() {
        return rows.name(row);
    }

    /** The name, with U+FFFD for bytes that are no text.
     *
     * @return the name */
    public String name() {
        return PathBytes.text(nameBytes());
    }

    /** Whether it is a directory, and no link to one.
     *
     * @return the answer of the scan, without a call */
    public boolean isDirectory() {
        return rows.types[row] == Attributes.DIRECTORY;
    }

    /**
     * The attributes, which were read with the entry.
     *
     * <p>The JDK is asked at this call where a scan reads names alone, and for an entry that the
     * scan has left out, such as the root of another file system. Each {@code fileKey()} equals that of another entry if both are the
     * same file, and never one of the JDK.
     *
     * @return the attributes, never null
     * @throws UncheckedIOException of the entry's own exception if the system has refused them,
     *     such as an {@link java.nio.file.AccessDeniedException}
     */
    public PosixFileAttributes attributes() {
        if (rows.isKnown(row)) {
            return new Attributes(rows, row);
        }
        EntryError refusal = rows.refusal(row);
        try {
            if (refusal != null) {
                throw refusal.exception();
            }
            return AskedAttributes.of(path(), rows.howToAsk(row));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /**
     * Whether the system has given attributes, or was not asked: only where it has refused them,
     * {@link #attributes} is sure to throw.
     *
     * @return false for an entry whose attributes the system has refused
     */
    public boolean hasAttributes() {
        return rows.isKnown(row) || rows.refusal(row) == null;
    }

    /** The path, with U+FFFD for bytes that are no text. */
    @Override
    public String toString() {
        return PathBytes.text(pathBytes());
    }
}
