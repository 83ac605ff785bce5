// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Cleaner;
import java.util.List;
import java.util.function.Consumer;

/** Batches of libstatwalk: one downcall fetches one, and none an entry. */
final class NativeBatches implements Batches {
    // By statwalk.h.
    private static final int VALUE = 1;
    private static final int ERROR = 2;
    private static final int END = 0;
    private static final int ATTRIBUTES =
            1 << 2 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11;
    private static final int NAME = 1;
    private static final int PATH = 1 << 13;
    private static final int ONE_FILE_SYSTEM = 1;
    private static final String[] OPERATIONS = {"open", "read", "stat", "follow"};

    /** For scans that nobody closes. Made with the first scan. */
    private static final class Forgotten {
        static final Cleaner CLEANER = Cleaner.create();
    }

    /** The handle, apart from its owner, so that the cleaner does not keep that alive. */
    private static final class Handle implements Runnable {
        private final NativeLibrary library;
        private MemorySegment pointer;
        private ScanEnd end = ScanEnd.INTERRUPTED;

        Handle(NativeLibrary library, MemorySegment pointer) {
            this.library = library;
            this.pointer = pointer;
        }

        @Override
        public synchronized void run() {
            if (pointer != null) {
                end = library.close(pointer);
                pointer = null;
            }
        }
    }

    private final Handle handle;
    private final Cleaner.Cleanable cleanable;
    private final Consumer<EntryException> onError;
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment place = arena.allocate(ValueLayout.ADDRESS);

    private NativeBatches(Handle handle, Consumer<EntryException> onError) {
        this.handle = handle;
        this.onError = onError;
        this.cleanable = Forgotten.CLEANER.register(this, handle);
    }

    static Batches open(
            List<byte[]> roots, Wanted wanted, ScanOptions options, Consumer<EntryException> onError)
            throws IOException {
        NativeLibrary library = NativeLibrary.get();
        int columns = ATTRIBUTES | (wanted == Wanted.PATHS ? PATH : NAME);
        int flags = options.oneFileSystem() ? ONE_FILE_SYSTEM : 0;
        MemorySegment pointer =
                library.open(roots, columns, flags, options.threads(), options.maxDepth());
        return new NativeBatches(new Handle(library, pointer), onError);
    }

    @Override
    public Rows[] next() throws IOException {
        // A close on another thread waits until the call returns, at most 100 ms.
        while (true) {
            synchronized (handle) {
                if (handle.pointer == null) {
                    return null;
                }
                NativeLibrary library = handle.library;
                int got = library.next(handle.pointer, 100, place);
                switch (got) {
                    case VALUE -> {
                        MemorySegment batch = place.get(ValueLayout.ADDRESS, 0);
                        try {
                            return rows(library, batch);
                        } finally {
                            library.free(batch);
                        }
                    }
                    case ERROR -> onError.accept(error(library.error(handle.pointer)));
                    case END -> {
                        handle.run();
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
            if (handle.pointer != null) {
                handle.library.skip(handle.pointer, directory);
            }
        }
    }

    @Override
    public ScanEnd end() {
        synchronized (handle) {
            return handle.end;
        }
    }

    @Override
    public void close() {
        cleanable.clean();
    }

    private static EntryException error(MemorySegment pointer) {
        MemorySegment error = pointer.reinterpret(40);
        int length = (int) error.get(ValueLayout.JAVA_LONG, 8);
        int number = error.get(ValueLayout.JAVA_INT, 16);
        int op = Byte.toUnsignedInt(error.get(ValueLayout.JAVA_BYTE, 20));
        byte[] path = array(error, 0, length);
        String words = error.get(ValueLayout.ADDRESS, 32).reinterpret(Long.MAX_VALUE).getString(0);
        String operation = op < OPERATIONS.length ? OPERATIONS[op] : "scan";
        return new EntryException(path, operation, number, words);
    }

    private static Rows[] rows(NativeLibrary library, MemorySegment batch) {
        Rows entries = columns(library.entries(batch));
        MemorySegment directories = library.directories(batch).reinterpret(72);
        Rows of = columns(directories.get(ValueLayout.ADDRESS, 0));
        of.ids = ints(directories, 8, of.length);
        of.hasParent = array(directories, 16, (of.length + 7) / 8);
        of.roots = ints(directories, 24, of.length);
        of.states = array(directories, 32, of.length);
        return new Rows[] {of, entries};
    }

    /** By `struct sw_columns`: its members have eight bytes each. */
    private static Rows columns(MemorySegment pointer) {
        MemorySegment c = pointer.reinterpret(216);
        Rows rows = new Rows();
        int length = rows.length = (int) c.get(ValueLayout.JAVA_LONG, 0);
        int bits = (length + 7) / 8;
        rows.dirs = ints(c, 8, length);
        rows.nameOffsets = ints(c, 24, length + 1);
        rows.names = rows.nameOffsets == null ? null : array(c, 16, rows.nameOffsets[length]);
        rows.pathOffsets = longs(c, 40, length + 1);
        rows.paths = rows.pathOffsets == null ? null : array(c, 32, (int) rows.pathOffsets[length]);
        rows.types = array(c, 48, length);
        rows.isKnown = array(c, 56, bits);
        rows.size = longs(c, 64, length);
        rows.ino = longs(c, 88, length);
        rows.dev = longs(c, 96, length);
        rows.mtime = longs(c, 104, length);
        rows.atime = longs(c, 112, length);
        rows.ctime = longs(c, 120, length);
        rows.btime = longs(c, 128, length);
        rows.mtimeIsKnown = array(c, 136, bits);
        rows.atimeIsKnown = array(c, 144, bits);
        rows.ctimeIsKnown = array(c, 152, bits);
        rows.btimeIsKnown = array(c, 160, bits);
        rows.uid = ints(c, 168, length);
        rows.gid = ints(c, 176, length);
        MemorySegment mode = at(c, 184, length * 2L);
        rows.mode = mode == null ? null : mode.toArray(ValueLayout.JAVA_SHORT);
        return rows;
    }

    private static MemorySegment at(MemorySegment struct, long offset, long bytes) {
        MemorySegment pointer = struct.get(ValueLayout.ADDRESS, offset);
        return pointer.address() == 0 ? null : pointer.reinterpret(bytes);
    }

    private static byte[] array(MemorySegment struct, long offset, int length) {
        MemorySegment values = at(struct, offset, length);
        return values == null ? null : values.toArray(ValueLayout.JAVA_BYTE);
    }

    private static int[] ints(MemorySegment struct, long offset, int length) {
        MemorySegment values = at(struct, offset, length * 4L);
        return values == null ? null : values.toArray(ValueLayout.JAVA_INT);
    }

    private static long[] longs(MemorySegment struct, long offset, int length) {
        MemorySegment values = at(struct, offset, length * 8L);
        return values == null ? null : values.toArray(ValueLayout.JAVA_LONG);
    }
}
