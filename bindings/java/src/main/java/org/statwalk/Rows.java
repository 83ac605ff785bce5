// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

/** Columns of a batch, copied to the heap: one copy for thousands of entries. */
final class Rows {
    int length;
    /** Numbers of directories: of those that begin here; null for other entries. */
    int[] ids;
    int[] dirs;
    byte[] paths;
    long[] pathOffsets;
    byte[] types;
    /** A bit for each row, or null where all are known. */
    byte[] isKnown;
    long[] size;
    long[] ino;
    long[] dev;
    long[] mtime;
    long[] atime;
    long[] ctime;
    long[] btime;
    byte[] mtimeIsKnown;
    byte[] atimeIsKnown;
    byte[] ctimeIsKnown;
    byte[] btimeIsKnown;
    int[] uid;
    int[] gid;
    short[] mode;
    byte[] states;

    static boolean bit(byte[] bits, int row) {
        return bits == null || (bits[row >> 3] >> (row & 7) & 1) == 1;
    }
}
