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

    private static NativeLibrary loaded;

    private final MethodHandle scanNew;
    private final MethodHandle scanColumns;
    private final MethodHandle scanOptions;
    private final MethodHandle scanThreads;
    private final MethodHandle scanDepth;
    private final MethodHandle scanFree;
    private final MethodHandle open;
    private final MethodHandle next;
    private final MethodHandle error;
    private final MethodHandle close;
    private final MethodHandle entries;
    private final MethodHandle directories;
    private final MethodHandle free;
    private final MethodHandle failure;

    static synchronized NativeLibrary get() throws IOException {
        if (loaded == null) {
            loaded = load();
        }
        return loaded;
    }

    private static NativeLibrary load() throws IOException {
        String given = System.getProperty("statwalk.library");
        if (given != null) {
            return new NativeLibrary(Path.of(given));
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
        SymbolLookup symbols;
        Linker linker;
        try {
            linker = Linker.nativeLinker();
            symbols = SymbolLookup.libraryLookup(file, Arena.global());
        } catch (IllegalCallerException denied) {
            throw new IOException("this JVM forbids native code: start it with"
                    + " --enable-native-access=ALL-UNNAMED, or =org.statwalk on the module path",
                    denied);
        }
        MethodHandle version = handle(linker, symbols, "sw_version", POINTER);
        String found = text(pointer(version));
        if (!VERSION.equals(found)) {
            throw new IOException(file + " is libstatwalk " + found + ", not " + VERSION);
        }
        scanNew = handle(linker, symbols, "sw_scan_new", POINTER, POINTER);
        scanColumns = handle(linker, symbols, "sw_scan_set_columns", INT, POINTER, INT);
        scanOptions = handle(linker, symbols, "sw_scan_set_options", INT, POINTER, INT);
        scanThreads =
                handle(linker, symbols, "sw_scan_set_threads", INT, POINTER, ValueLayout.JAVA_LONG);
        scanDepth = handle(linker, symbols, "sw_scan_set_max_depth", INT, POINTER, INT);
        scanFree = handle(linker, symbols, "sw_scan_free", null, POINTER);
        open = handle(linker, symbols, "sw_batches_open", INT, POINTER, POINTER);
        next = handle(linker, symbols, "sw_batches_next", INT, POINTER, INT, POINTER);
        error = handle(linker, symbols, "sw_batches_error", POINTER, POINTER);
        close = handle(linker, symbols, "sw_batches_close", INT, POINTER, POINTER);
        entries = handle(linker, symbols, "sw_batch_entries", POINTER, POINTER);
        directories = handle(linker, symbols, "sw_batch_directories", POINTER, POINTER);
        free = handle(linker, symbols, "sw_batch_free", null, POINTER);
        failure = handle(linker, symbols, "sw_failure", POINTER, POINTER);
    }

    private static MethodHandle handle(
            Linker linker, SymbolLookup symbols, String name, MemoryLayout result, MemoryLayout... of)
            throws IOException {
        MemorySegment symbol = symbols.find(name)
                .orElseThrow(() -> new IOException("libstatwalk has no function " + name));
        FunctionDescriptor type =
                result == null ? FunctionDescriptor.ofVoid(of) : FunctionDescriptor.of(result, of);
        return linker.downcallHandle(symbol, type);
    }

    /** Describes a scan; its pointer is null if that fails. */
    MemorySegment scan(MemorySegment root) {
        return pointer(scanNew, root);
    }

    /** Begins a scan, and frees its description. */
    int open(
            MemorySegment scan, int columns, int options, int threads, int depth, MemorySegment out) {
        try {
            int status = (int) scanColumns.invokeExact(scan, columns);
            status |= (int) scanOptions.invokeExact(scan, options);
            status |= (int) scanThreads.invokeExact(scan, (long) threads);
            status |= (int) scanDepth.invokeExact(scan, depth);
            status |= (int) open.invokeExact(scan, out);
            scanFree.invokeExact(scan);
            return status;
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    int next(MemorySegment batches, int timeoutMs, MemorySegment out) {
        try {
            return (int) next.invokeExact(batches, timeoutMs, out);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    int close(MemorySegment batches) {
        try {
            return (int) close.invokeExact(batches, MemorySegment.NULL);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    void free(MemorySegment batch) {
        try {
            free.invokeExact(batch);
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

    private static MemorySegment pointer(MethodHandle handle) {
        try {
            return (MemorySegment) handle.invokeExact();
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    private static MemorySegment pointer(MethodHandle handle, MemorySegment argument) {
        try {
            return (MemorySegment) handle.invokeExact(argument);
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
