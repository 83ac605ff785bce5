// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.nio.file.InvalidPathException;

/** The bytes of a path are no text, so a {@code Path} would not lead back to the file. */
public class UndecodablePathException extends InvalidPathException {
    private static final long serialVersionUID = 1;

    private final byte[] bytes;

    UndecodablePathException(byte[] bytes, String lossy) {
        super(lossy, "the path is no text in the encoding of this JVM; use pathBytes()");
        this.bytes = bytes;
    }

    /** The bytes of the path.
     *
     * @return a copy */
    public byte[] pathBytes() {
        return bytes.clone();
    }
}
