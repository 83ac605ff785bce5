// SPDX-License-Identifier: MIT OR Apache-2.0

import java.util.Arrays;

/** A call of JNI for each directory, which gives all entries with their attributes. */
public final class Batch {
    // The columns of a row, as batch.c writes them.
    private static final int END = 0;
    private static final int MODE = 1;
    private static final int LINKS = 2;
    private static final int OWNER = 3;
    private static final int GROUP = 4;
    private static final int INODE = 5;
    private static final int SIZE = 6;
    private static final int BLOCKS = 7;
    private static final int ACCESSED = 8;
    private static final int CHANGED = 10;
    private static final int MODIFIED = 12;
    static final int COLUMNS = 14;

    static {
        System.loadLibrary("batch");
    }

    /** All names with a NUL after each. */
    byte[] names;
    /** So many rows of numbers. */
    long[] numbers;
    /** The error of each entry that could not be asked. */
    int[] failed;

    private Batch() {}

    /** Reads a directory into the arrays; the error, or 0. Without `wantsSizes`, only the type in the mode is filled. */
    native int read(byte[] path, boolean wantsSizes);

    private void walk(byte[] path, Walk walk) {
        int error = read(path, walk.wantsSizes);
        if (error != 0) {
            Walk.report(path, "directory", error);
            return;
        }
        int from = 0;
        for (int row = 0; row < numbers.length; row += COLUMNS) {
            int end = (int) numbers[row + END];
            byte[] name = Arrays.copyOfRange(names, from, end);
            from = end;
            int mode = (int) numbers[row + MODE];
            if (!walk.wantsSizes) {
                walk.add(path, name, Entry.isDirectory(mode));
            } else if (walk.wantsRecords) {
                walk.add(path, new Entry(
                        name, mode, (int) numbers[row + LINKS], (int) numbers[row + OWNER], (int) numbers[row + GROUP],
                        numbers[row + INODE], numbers[row + SIZE], numbers[row + BLOCKS],
                        numbers[row + ACCESSED], (int) numbers[row + ACCESSED + 1],
                        numbers[row + CHANGED], (int) numbers[row + CHANGED + 1],
                        numbers[row + MODIFIED], (int) numbers[row + MODIFIED + 1]));
            } else {
                walk.add(path, name, mode, numbers[row + SIZE]);
            }
        }
        for (int number : failed) {
            Walk.report(path, "an entry", number);
        }
    }

    public static void main(String[] arguments) {
        Batch batch = new Batch();
        Walk.main(arguments, batch::walk);
    }
}
