// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.nio.file.LinkOption;
import java.util.Arrays;
import java.util.Map;

/** Columns of a table, copied to the heap: one copy for thousands of entries. */
final class Rows {
    private static final byte SYMLINK = 2;
    /** The number of an entry that is no directory, in a table that has both. */
    private static final int NO_DIRECTORY = -1;
    private static final LinkOption[] FOLLOW = {};
    private static final LinkOption[] NO_FOLLOW = {LinkOption.NOFOLLOW_LINKS};

    /** How many bytes at the beginning of paths the caller has not given. */
    int cut;
    /** Whether entries stand for what links lead to. */
    boolean followsLinks;
    int length;
    /** Of directories: their numbers; null in a table of other entries. */
    int[] ids;
    /** Of directories: the root that each belongs to. */
    int[] roots;
    /** Of directories: how far each was read. */
    byte[] states;
    /** The number of the directory that each is in; without meaning for a root. */
    int[] dirs;
    /** Whether each lies in a directory, in bits: 0 for a root. */
    byte[] hasDir;
    /** Which prefix stands before the name of each. */
    int[] prefixes;
    byte[] prefixBytes;
    int[] prefixOffsets;
    byte[] names;
    int[] nameOffsets;
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
    /** Rows whose attributes the system has refused, in their order; null for none. */
    int[] refusedRows;
    int[] refusalNumbers;
    /** The words of the system, by number. */
    Map<Integer, String> refusalReasons;

    static boolean bit(byte[] bits, int row) {
        return bits == null || (bits[row >> 3] >> (row & 7) & 1) == 1;
    }

    boolean isKnown(int row) {
        // A scan of names alone has no column.
        return size != null && bit(isKnown, row);
    }

    boolean isRoot(int row) {
        return !bit(hasDir, row);
    }

    /** Whether a row has a number of a directory. */
    boolean isDirectory(int row) {
        return ids != null && ids[row] != NO_DIRECTORY;
    }

    /** Why the system has refused the attributes of a row; null where it has not. */
    EntryError refusal(int row) {
        int at = refusedRows == null ? -1 : Arrays.binarySearch(refusedRows, row);
        if (at < 0) {
            return null;
        }
        int number = refusalNumbers[at];
        return new EntryError(path(row), EntryError.STAT, number, refusalReasons.get(number));
    }

    /** How the JDK is asked for the attributes of a row. */
    LinkOption[] howToAsk(int row) {
        return followsLinks && types[row] != SYMLINK ? FOLLOW : NO_FOLLOW;
    }

    byte[] path(int row) {
        int before = prefixOffsets[prefixes[row]] + cut;
        int length = prefixOffsets[prefixes[row] + 1] - before;
        int begin = nameOffsets[row];
        int end = nameOffsets[row + 1];
        byte[] path = Arrays.copyOfRange(prefixBytes, before, before + length + end - begin);
        System.arraycopy(names, begin, path, length, end - begin);
        return path;
    }

    byte[] name(int row) {
        return Arrays.copyOfRange(names, nameOffsets[row], nameOffsets[row + 1]);
    }
}
