// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The functions of libstatwalk. It is loaded by the first scan, and by no initialiser. */
final class NativeLibrary {
    private static final MemoryLayout POINTER = ValueLayout.ADDRESS;
    private static final MemoryLayout INT = ValueLayout.JAVA_INT;
    /** The members of structs are where this version has them. */
    private static final String VERSION = "0.1.0";
    private static final int OK = 0;
    /** More than `struct sw_report` has. */
    private static final int REPORT_BYTES = 128;

    private static NativeLibrary loaded;

    private final Linker linker;
    private final SymbolLookup symbols;
    private final Function scanNew = new Function("sw_scan_new", POINTER, POINTER);
    private final Function scanRoot = new Function("sw_scan_add_root", INT, POINTER, POINTER);
    private final Function scanColumns = new Function("sw_scan_set_columns", INT, POINTER, INT);
    private final Function scanOptions = new Function("sw_scan_set_options", INT, POINTER, INT);
    private final Function scanThreads =
            new Function("sw_scan_set_threads", INT, POINTER, ValueLayout.JAVA_LONG);
    private final Function scanDepth = new Function("sw_scan_set_max_depth", INT, POINTER, INT);
    private final Function scanFree = new Function("sw_scan_free", null, POINTER);
    private final Function open = new Function("sw_batches_open", INT, POINTER, POINTER);
    private final Function next = new Function("sw_batches_next", INT, POINTER, INT, POINTER);
    private final Function skip = new Function("sw_batches_skip", INT, POINTER, INT);
    private final Function error = new Function("sw_batches_error", POINTER, POINTER);
    private final Function close = new Function("sw_batches_close", INT, POINTER, POINTER);
    private final Function entries = new Function("sw_batch_entries", POINTER, POINTER);
    private final Function directories = new Function("sw_batch_directories", POINTER, POINTER);
    private final Function free = new Function("sw_batch_free", null, POINTER);
    private final Function failure = new Function("sw_failure", POINTER, POINTER);
    private final Function version = new Function("sw_version", POINTER);

    /** A function of the library. Linking takes milliseconds, so the first call does it. */
    private final class Function {
        private final String name;
        private final MemoryLayout result;
        private final MemoryLayout[] of;
        private MethodHandle handle;

        Function(String name, MemoryLayout result, MemoryLayout... of) {
            this.name = name;
            this.result = result;
            this.of = of;
        }

        synchronized MethodHandle handle() {
            if (handle == null) {
                FunctionDescriptor type = result == null
                        ? FunctionDescriptor.ofVoid(of) : FunctionDescriptor.of(result, of);
                handle = linker.downcallHandle(symbols.find(name).orElseThrow(), type);
            }
            return handle;
        }
    }

    static synchronized NativeLibrary get() throws IOException {
        if (loaded == null) {
            loaded = load();
        }
        return loaded;
    }

    private static NativeLibrary load() throws IOException {
        String given = System.getProperty("statwalk.library");
        if (given != null) {
            try {
                return new NativeLibrary(Path.of(given));
            } catch (IllegalArgumentException refused) {
                throw new IOException("cannot load the library that -Dstatwalk.library names: "
                        + refused.getMessage(), refused);
            }
        }
        String name = "/native/linux-" + System.getProperty("os.arch") + "/libstatwalk.so";
        // A temporary folder can forbid execution.
        Path[] folders = {
            Path.of(System.getProperty("java.io.tmpdir")),
            Path.of(System.getProperty("user.home"), ".cache"),
        };
        List<String> reasons = new ArrayList<>();
        for (Path folder : folders) {
            Path file = null;
            try (InputStream bytes = NativeLibrary.class.getResourceAsStream(name)) {
                if (bytes == null) {
                    throw new IOException("this jar has no library for " + name
                            + "; name one by -Dstatwalk.library=PATH");
                }
                Files.createDirectories(folder);
                file = Files.createTempFile(folder, "libstatwalk-", ".so");
                Files.copy(bytes, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
                return new NativeLibrary(file);
            } catch (IllegalArgumentException refused) {
                reasons.add(folder + ": " + refused.getMessage());
            } finally {
                // The system keeps what it has loaded.
                if (file != null) {
                    Files.deleteIfExists(file);
                }
            }
        }
        throw new IOException("cannot load libstatwalk: " + String.join("; ", reasons)
                + "; name one by -Dstatwalk.library=PATH");
    }

    private NativeLibrary(Path file) throws IOException {
        try {
            linker = Linker.nativeLinker();
            symbols = SymbolLookup.libraryLookup(file, Arena.global());
        } catch (IllegalCallerException denied) {
            throw new IOException("this JVM forbids native code: start it with"
                    + " --enable-native-access=ALL-UNNAMED, or =org.statwalk on the module path",
                    denied);
        }
        if (symbols.find(version.name).isEmpty()) {
            throw new IOException(file + " is not libstatwalk");
        }
        String found = version();
        if (!VERSION.equals(found)) {
            throw new IOException(file + " is libstatwalk " + found + ", not " + VERSION);
        }
    }

    private String version() {
        try {
            return text((MemorySegment) version.handle().invokeExact());
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    /** Begins a scan that gives batches. A number of 0 threads, and so on, are not set. */
    MemorySegment open(List<byte[]> roots, int columns, int options, int threads, int depth)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment scan = pointer(scanNew, path(arena, roots.get(0)));
            if (scan.address() == 0) {
                throw new IOException(failure());
            }
            try {
                for (byte[] root : roots.subList(1, roots.size())) {
                    check((int) scanRoot.handle().invokeExact(scan, path(arena, root)));
                }
                check((int) scanColumns.handle().invokeExact(scan, columns));
                if (options != 0) {
                    check((int) scanOptions.handle().invokeExact(scan, options));
                }
                if (threads != 0) {
                    check((int) scanThreads.handle().invokeExact(scan, (long) threads));
                }
                if (depth != Integer.MAX_VALUE) {
                    check((int) scanDepth.handle().invokeExact(scan, depth));
                }
                MemorySegment out = arena.allocate(POINTER);
                check((int) open.handle().invokeExact(scan, out));
                return out.get(ValueLayout.ADDRESS, 0);
            } finally {
                scanFree.handle().invokeExact(scan);
            }
        } catch (IOException failed) {
            throw failed;
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    private static MemorySegment path(Arena arena, byte[] root) {
        MemorySegment path = arena.allocate(root.length + 1L);
        MemorySegment.copy(root, 0, path, ValueLayout.JAVA_BYTE, 0, root.length);
        return path;
    }

    private void check(int status) throws IOException {
        if (status != OK) {
            throw new IOException(failure());
        }
    }

    int next(MemorySegment batches, int timeoutMs, MemorySegment out) {
        try {
            return (int) next.handle().invokeExact(batches, timeoutMs, out);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    void skip(MemorySegment batches, int directory) {
        try {
            int status = (int) skip.handle().invokeExact(batches, directory);
            assert status == OK : failure();
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    ScanEnd close(MemorySegment batches) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment report = arena.allocate(REPORT_BYTES);
            int status = (int) close.handle().invokeExact(batches, report);
            if (status == OK) {
                return ScanEnd.COMPLETE;
            }
            boolean isInterrupted = status < 0 || report.get(ValueLayout.JAVA_BYTE, 1) != 0;
            return isInterrupted ? ScanEnd.INTERRUPTED : ScanEnd.INCOMPLETE;
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    void free(MemorySegment batch) {
        try {
            free.handle().invokeExact(batch);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    MemorySegment error(MemorySegment batches) {
        return pointer(error, batches);
    }

    MemorySegment entries(MemorySegment batch) {
        return pointer(entries, batch);
    }

    MemorySegment directories(MemorySegment batch) {
        return pointer(directories, batch);
    }

    String failure() {
        return text(pointer(failure, MemorySegment.NULL));
    }

    private static String text(MemorySegment pointer) {
        return pointer.reinterpret(Long.MAX_VALUE).getString(0);
    }

    private static MemorySegment pointer(Function function, MemorySegment argument) {
        try {
            return (MemorySegment) function.handle().invokeExact(argument);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    /** A call of C throws nothing; an error of the JVM goes on as it is. */
    private static RuntimeException impossible(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(thrown);
    }
}
