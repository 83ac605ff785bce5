// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

/** How a scan came to its end. */
enum ScanEnd {
    COMPLETE,
    /** Something could not be read. */
    INCOMPLETE,
    /** It was stopped, or has not come to its end. */
    INTERRUPTED,
}
