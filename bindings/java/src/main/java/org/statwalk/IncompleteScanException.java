// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.util.List;

/** A scan has ended, and something could not be read. */
public class IncompleteScanException extends IOException {
    private static final long serialVersionUID = 1;

    /** Exceptions can be written, so the list is one that can, too. */
    private final java.util.ArrayList<EntryException> errors;

    IncompleteScanException(List<EntryException> errors, int count) {
        super("the scan is incomplete, with " + count + " errors"
                + (errors.isEmpty() ? "" : ": " + errors.get(0).getReason()));
        this.errors = new java.util.ArrayList<>(errors);
    }

    /** The first thousand errors.
     *
     * @return the errors; empty for a scan that was stopped */
    public List<EntryException> errors() {
        return List.copyOf(errors);
    }
}
