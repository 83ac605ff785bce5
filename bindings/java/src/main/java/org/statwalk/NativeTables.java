// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.HashMap;
import java.util.List;
import java.util.function.Consumer;

/** Tables of libstatwalk: one downcall fetches one, and none an entry. */
final class NativeTables implements Tables {
    // By statwalk.h.
    private static final int VALUE = 1;
    private static final int ERROR = 2;
    private static final int END = 0;
    private static final int ATTRIBUTES =
            1 << 2 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11;
    private static final int NAME = 1;

    /**
     * For scans that nobody closes. Made with the first scan; null where the system had no
     * thread for it, and then such a scan stays.
     */
    private static final class Forgotten {
        static final Cleaner CLEANER = cleaner();

        private static Cleaner cleaner() {
            try {
                return Cleaner.create();
            } catch (OutOfMemoryError noThread) {
                return null;
            }
        }
    }

    /**
     * Ends a scan that nobody closed, on a thread of its own: the collector finds many at once,
     * and each waits until its workers have returned.
     */
    private static void endForgotten(Handle handle) {
        if (!handle.isOpen()) {
            return;
        }
        try {
            Thread closer = new Thread(handle, "statwalk-close");
            closer.setDaemon(true);
            closer.start();
        } catch (OutOfMemoryError noThread) {
            handle.run();
        }
    }

    /** The handle, apart from its owner, so that the cleaner does not keep that alive. */
    private static final class Handle implements Runnable {
        private final NativeLibrary library;
        private long pointer;
        private ScanEnd end = ScanEnd.INTERRUPTED;

        Handle(NativeLibrary library, long pointer) {
            this.library = library;
            this.pointer = pointer;
        }

        synchronized boolean isOpen() {
            return pointer != 0;
        }

        @Override
        public synchronized void run() {
            if (pointer != 0) {
                end = library.close(pointer);
                pointer = 0;
            }
        }
    }

    private final Handle handle;
    private final Cleaner.Cleanable cleanable;
    private final boolean followsLinks;
    private final Consumer<EntryError> onError;
    /** Where the library puts the address of a table. */
    private final MemorySegment place = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

    /** Null where it has not come to its end. */
    private ScanEnd end;

    private NativeTables(
            Handle handle, boolean followsLinks, Consumer<EntryError> onError) {
        this.handle = handle;
        this.followsLinks = followsLinks;
        this.onError = onError;
        Cleaner cleaner = Forgotten.CLEANER;
        this.cleanable = cleaner == null
                ? handle::run : cleaner.register(this, () -> endForgotten(handle));
    }

    static Tables open(
            List<byte[]> roots, ScanOptions options, Consumer<EntryError> onError)
            throws IOException {
        NativeLibrary library = NativeLibrary.get();
        int columns = options.hasNamesAlone() ? NAME : ATTRIBUTES | NAME;
        long pointer = library.open(roots, columns, options);
        return new NativeTables(new Handle(library, pointer), options.followsLinks(), onError);
    }

    @Override
    public Rows next() throws IOException {
        // A close on another thread waits until the call returns, at most 100 ms.
        while (true) {
            synchronized (handle) {
                if (handle.pointer == 0) {
                    return null;
                }
                NativeLibrary library = handle.library;
                int got = library.next(handle.pointer, 100, place.address());
                long table = got == VALUE ? NativeMemory.longs(place.address(), 1)[0] : 0;
                // Its memory is freed when nothing refers to it, as a number does not.
                Reference.reachabilityFence(place);
                switch (got) {
                    case VALUE -> {
                        Rows rows;
                        try {
                            rows = rows(library, table);
                        } finally {
                            library.free(table);
                        }
                        reportFiles(rows);
                        return rows;
                    }
                    case ERROR -> onError.accept(error(library, library.error(handle.pointer)));
                    case END -> {
                        handle.run();
                        end = handle.end;
                        return null;
                    }
                    default -> {
                        if (got < 0) {
                            throw new IOException(library.failure());
                        }
                    }
                }
            }
        }
    }

    @Override
    public void skip(int directory) {
        synchronized (handle) {
            if (handle.pointer != 0) {
                handle.library.skip(handle.pointer, directory);
            }
        }
    }

    @Override
    public boolean isSkipped(int directory) {
        synchronized (handle) {
            // After a close nothing is wanted any more.
            return handle.pointer == 0 || handle.library.isSkipped(handle.pointer, directory);
        }
    }

    @Override
    public ScanEnd end() {
        synchronized (handle) {
            return end;
        }
    }

    @Override
    public void close() {
        handle.run();
        cleanable.clean();
    }

    /** A root was a directory before the scan. If a file has taken its place, that is an error. */
    private void reportFiles(Rows rows) {
        for (int row = 0; rows.hasDir != null && row < rows.length; row++) {
            if (rows.isRoot(row) && !rows.isDirectory(row)) {
                onError.accept(new EntryError(rows.name(row), EntryError.OPEN, EntryError.ENOTDIR,
                        handle.library.reason(EntryError.ENOTDIR)));
            }
        }
    }

    /** By `struct sw_error`. */
    private static EntryError error(NativeLibrary library, long pointer) throws IOException {
        long[] error = NativeMemory.longs(pointer, 5);
        byte[] path = NativeMemory.bytes(error[0], NativeMemory.length(error[1]));
        int operation = Byte.toUnsignedInt(NativeMemory.bytes(pointer + 20, 1)[0]);
        int number = NativeMemory.ints(pointer + 16, 1)[0];
        // The words of the library stand behind the path.
        String message = NativeMemory.text(error[4]);
        String words = message.substring(message.lastIndexOf(": ") + 2);
        boolean isOwn = number == 0 || words.equals("not a regular file");
        return new EntryError(path, operation, number, isOwn ? words : library.reason(number));
    }

    /** By `struct sw_table`: its members have eight bytes each. */
    private Rows rows(NativeLibrary library, long table) throws IOException {
        long[] c = NativeMemory.longs(table, 25);
        Rows rows = new Rows();
        rows.followsLinks = followsLinks;
        int length = rows.length = NativeMemory.length(c[0]);
        rows.ids = NativeMemory.ints(c[1], length);
        rows.roots = NativeMemory.ints(c[2], length);
        rows.states = NativeMemory.bytes(c[3], length);
        rows.dirs = NativeMemory.ints(c[4], length);
        rows.hasDir = NativeMemory.bytes(c[5], (length + 7) / 8);
        if (length > 0) {
            int prefixes = NativeMemory.length(c[9]);
            rows.prefixes = NativeMemory.ints(c[6], length);
            rows.prefixOffsets = NativeMemory.ints(c[8], prefixes + 1);
            int bytes = NativeMemory.length(Integer.toUnsignedLong(rows.prefixOffsets[prefixes]));
            rows.prefixBytes = NativeMemory.bytes(c[7], bytes);
            rows.nameOffsets = NativeMemory.ints(c[11], length + 1);
            rows.names = NativeMemory.bytes(c[10], rows.nameOffsets[length]);
        }
        rows.types = NativeMemory.bytes(c[14], length);
        for (int at = 0; at < c[16]; at++) {
            attribute(rows, NativeMemory.longs(c[15] + 32L * at, 4));
        }
        if (c[24] > 0) {
            refusals(library, rows, NativeMemory.ints(c[23], NativeMemory.length(2 * c[24])));
        }
        return rows;
    }

    /** By `struct sw_refusal`: a row, and the number of an error. */
    private static void refusals(NativeLibrary library, Rows rows, int[] refusals) {
        int count = refusals.length / 2;
        rows.refusedRows = new int[count];
        rows.refusalNumbers = new int[count];
        rows.refusalReasons = new HashMap<>();
        for (int at = 0; at < count; at++) {
            rows.refusedRows[at] = refusals[2 * at];
            rows.refusalNumbers[at] = refusals[2 * at + 1];
            rows.refusalReasons.computeIfAbsent(refusals[2 * at + 1], library::reason);
        }
    }

    /** By `struct sw_attribute`: a name, two numbers of four bytes, values, and bits. */
    private static void attribute(Rows rows, long[] attribute) {
        int length = rows.length;
        long values = attribute[2];
        byte[] known = NativeMemory.bytes(attribute[3], (length + 7) / 8);
        switch (NativeMemory.text(attribute[0])) {
            case "size" -> rows.size = NativeMemory.longs(values, length);
            case "ino" -> rows.ino = NativeMemory.longs(values, length);
            case "dev" -> rows.dev = NativeMemory.longs(values, length);
            case "uid" -> rows.uid = NativeMemory.ints(values, length);
            case "gid" -> rows.gid = NativeMemory.ints(values, length);
            case "mode" -> {
                rows.mode = NativeMemory.shorts(values, length);
                rows.isKnown = known;
            }
            case "mtime" -> {
                rows.mtime = NativeMemory.longs(values, length);
                rows.mtimeIsKnown = known;
            }
            case "atime" -> {
                rows.atime = NativeMemory.longs(values, length);
                rows.atimeIsKnown = known;
            }
            case "ctime" -> {
                rows.ctime = NativeMemory.longs(values, length);
                rows.ctimeIsKnown = known;
            }
            case "btime" -> {
                rows.btime = NativeMemory.longs(values, length);
                rows.btimeIsKnown = known;
            }
            default -> { }
        }
    }
}
