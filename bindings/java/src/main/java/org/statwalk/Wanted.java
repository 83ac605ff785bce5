// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

/** How the rows of a scan say what they are. */
enum Wanted {
    /** By whole paths. A batch comes when all directories above it are known. */
    PATHS,
    /** By names, and the numbers of directories. */
    NAMES,
}
