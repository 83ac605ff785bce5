// SPDX-License-Identifier: MIT OR Apache-2.0

/** All that statx(2) says of an entry, and its name as bytes. */
record Entry(
        byte[] name, int mode, int links, int owner, int group, long inode, long size, long blocks,
        long accessedSeconds, int accessedNanos, long changedSeconds, int changedNanos,
        long modifiedSeconds, int modifiedNanos) {
    private static final int TYPE = 0170000;
    private static final int DIRECTORY = 0040000;
    private static final int REGULAR = 0100000;

    static boolean isDirectory(int mode) {
        return (mode & TYPE) == DIRECTORY;
    }

    static boolean isRegular(int mode) {
        return (mode & TYPE) == REGULAR;
    }
}
