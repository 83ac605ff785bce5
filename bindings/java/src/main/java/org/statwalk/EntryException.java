// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.nio.file.FileSystemException;

/** An entry that could not be read. */
public class EntryException extends FileSystemException {
    private static final long serialVersionUID = 1;

    /** The operation. */
    private final String operation;
    /** The error number. */
    private final int number;
    /** The file as the system has it. It leads to nothing in another process. */
    private final transient byte[] path;

    EntryException(byte[] path, String operation, int number, String message) {
        super(PathBytes.text(path), null, message);
        this.path = path;
        this.operation = operation;
        this.number = number;
    }

    /** The operation, such as "open".
     *
     * @return the word for it */
    public String operation() {
        return operation;
    }

    byte[] pathBytes() {
        return path;
    }

    /** The error number of the system; 0 for a directory that did not hold still.
     *
     * @return the number */
    public int number() {
        return number;
    }
}
