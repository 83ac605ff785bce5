// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/**
 * An entry that could not be read.
 *
 * @param path its bytes
 * @param operation by statwalk.h
 * @param number by errno(3); 0 for a directory that changed each time it was read
 * @param reason the words of the system for the number
 */
record EntryError(byte[] path, int operation, int number, String reason) {
    // By statwalk.h.
    static final int OPEN = 0;
    static final int READ = 1;
    static final int STAT = 2;
    // By errno(3), the same on all machines of Linux with a JDK.
    static final int ENOENT = 2;
    static final int EACCES = 13;
    static final int ENOTDIR = 20;
    static final int ELOOP = 40;

    EntryError withPath(byte[] other) {
        return new EntryError(other, operation, number, reason);
    }

    /** Whether others changed the directory each time it was read. */
    boolean isChange() {
        return number == 0;
    }

    /** The exception that the JDK has for the number. */
    FileSystemException exception() {
        String file = PathBytes.text(path);
        return switch (number) {
            case EACCES -> new AccessDeniedException(file);
            case ENOENT -> new NoSuchFileException(file);
            // The JDK says of a stat below a file that there is nothing.
            case ENOTDIR -> operation == STAT
                    ? new NoSuchFileException(file) : new NotDirectoryException(file);
            case ELOOP -> new FileSystemException(file, null,
                    reason + " or unable to access attributes of symbolic link");
            default -> new FileSystemException(file, null, reason);
        };
    }
}
