// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.List;

/** A scan has ended, and something could not be read. The cause is the first error. */
public class IncompleteScanException extends IOException {
    private static final long serialVersionUID = 1;

    /** Exceptions can be written, so the list is one that can, too. */
    private final java.util.ArrayList<FileSystemException> errors;

    IncompleteScanException(List<FileSystemException> errors, int count) {
        super("the scan is incomplete, with " + count + (count == 1 ? " error" : " errors")
                + (errors.isEmpty() ? "" : ": " + name(errors.get(0))),
                errors.isEmpty() ? null : errors.get(0));
        this.errors = new java.util.ArrayList<>(errors);
    }

    private static String name(FileSystemException error) {
        return error.getClass().getSimpleName() + ": " + error.getMessage();
    }

    /** The first thousand errors, each the exception of the JDK for its number.
     *
     * @return the errors; empty for a scan that was stopped */
    public List<FileSystemException> errors() {
        return List.copyOf(errors);
    }
}
