// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.nio.file.FileSystemException;

/** An entry that could not be read. */
public class EntryException extends FileSystemException {
    private static final long serialVersionUID = 1;

    private final String operation;
    private final int number;

    EntryException(String path, String operation, int number, String message) {
        super(path, null, message);
        this.operation = operation;
        this.number = number;
    }

    /** The operation, such as "open".
     *
     * @return the word for it */
    public String operation() {
        return operation;
    }

    /** The error number of the system; 0 for a directory that did not hold still.
     *
     * @return the number */
    public int number() {
        return number;
    }
}
