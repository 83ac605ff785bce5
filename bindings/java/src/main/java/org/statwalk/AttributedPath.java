// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

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

    /** The attributes, which were read with the entry.
     *
     * @return the attributes; null where they could not be read */
    public PosixFileAttributes attributes() {
        return rows.isKnown(row) ? new Attributes(rows, row) : null;
    }

    /** The path, with U+FFFD for bytes that are no text. */
    @Override
    public String toString() {
        return PathBytes.text(pathBytes());
    }
}
