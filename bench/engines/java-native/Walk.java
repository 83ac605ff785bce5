// SPDX-License-Identifier: MIT OR Apache-2.0

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A walk with its sums, and the directories that are left: CLASS MODEL ROUNDS PATH. */
final class Walk {
    private static boolean failed;

    final boolean wantsSizes;
    final boolean wantsRecords;
    private final boolean enters;
    private final Deque<byte[]> left = new ArrayDeque<>();
    private final List<Entry> records = new ArrayList<>();
    private long files;
    private long directories;
    private long bytes;
    private long modifiedSeconds;

    /** Reads one directory, whose path ends with a NUL, into the walk. */
    interface Reader {
        void read(byte[] path, Walk walk);
    }

    private Walk(String model) {
        wantsSizes = !model.equals("count");
        wantsRecords = model.equals("records");
        enters = !model.equals("directory");
    }

    /** An entry without its attributes. */
    void add(byte[] directory, byte[] name, boolean isDirectory) {
        if (isDirectory) {
            directories++;
            enter(directory, name);
        } else {
            files++;
        }
    }

    /** An entry with those that sums are made of. */
    void add(byte[] directory, byte[] name, int mode, long size) {
        add(directory, name, Entry.isDirectory(mode));
        if (Entry.isRegular(mode)) {
            bytes += size;
        }
    }

    void add(byte[] directory, Entry entry) {
        add(directory, entry.name(), entry.mode(), entry.size());
        modifiedSeconds += entry.modifiedSeconds();
        records.add(entry);
    }

    private void enter(byte[] directory, byte[] name) {
        if (!enters) {
            return;
        }
        // Both end with a NUL.
        byte[] path = new byte[directory.length + name.length];
        System.arraycopy(directory, 0, path, 0, directory.length - 1);
        path[directory.length - 1] = '/';
        System.arraycopy(name, 0, path, directory.length, name.length);
        left.push(path);
    }

    static void report(byte[] path, String operation, int number) {
        System.err.println(new String(path, 0, path.length - 1, StandardCharsets.UTF_8) + ": " + operation + ": error " + number);
        failed = true;
    }

    static void main(String[] arguments, Reader reader) {
        String model = arguments[0];
        byte[] root = (arguments[2] + "\0").getBytes(StandardCharsets.UTF_8);
        for (int round = Integer.parseInt(arguments[1]); round > 0; round--) {
            long begin = System.nanoTime();
            Walk walk = new Walk(model);
            walk.left.push(root);
            while (!walk.left.isEmpty()) {
                reader.read(walk.left.pop(), walk);
            }
            long nanoseconds = System.nanoTime() - begin;
            String sums = walk.files + " " + walk.directories + " " + walk.bytes;
            System.out.println(nanoseconds + " " + sums + (walk.wantsRecords ? " " + walk.modifiedSeconds : ""));
        }
        System.exit(failed ? 1 : 0);
    }
}
