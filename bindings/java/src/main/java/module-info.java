// SPDX-License-Identifier: MIT OR Apache-2.0

/** Entries of directory trees with their attributes. */
module org.statwalk {
    exports org.statwalk;
}
