// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/** The functions of libstatwalk. It is loaded by the first scan, and by no initialiser. */
final class NativeLibrary {
    /** The members of structs are where this version has them. */
    private static final String VERSION = "0.1.0";
    private static final int OK = 0;
    /** More than `struct sw_report` has. */
    private static final int REPORT_BYTES = 128;

    private static NativeLibrary loaded;

    /**
     * The one form of all calls. To link a form takes milliseconds and makes a dozen hidden
     * classes, which the first entry would wait for.
     *
     * <p>Both ABIs of Linux with 64 bits (System V of x86-64, AAPCS64) pass the first integers
     * and pointers in registers of 64 bits. A callee does not look at registers beyond its own
     * parameters, nor at the upper half of an int. The upper half of a result that is an int is
     * undefined, so it is cut off.
     */
    private static final class Call {
        static final MethodHandle HANDLE = Linker.nativeLinker().downcallHandle(
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));

        private Call() {}
    }

    private final SymbolLookup symbols;
    private final Function scanNew = new Function("sw_scan_new");
    private final Function scanRoot = new Function("sw_scan_add_root");
    private final Function scanColumns = new Function("sw_scan_set_columns");
    private final Function scanOptions = new Function("sw_scan_set_options");
    private final Function scanThreads = new Function("sw_scan_set_threads");
    private final Function scanDepth = new Function("sw_scan_set_max_depth");
    private final Function scanMinDepth = new Function("sw_scan_set_min_depth");
    private final Function scanExclude = new Function("sw_scan_exclude");
    private final Function scanFree = new Function("sw_scan_free");
    private final Function open = new Function("sw_tables_open");
    private final Function next = new Function("sw_tables_next");
    private final Function skip = new Function("sw_tables_skip");
    private final Function isSkipped = new Function("sw_tables_is_skipped");
    private final Function error = new Function("sw_tables_error");
    private final Function close = new Function("sw_tables_close");
    private final Function free = new Function("sw_table_free");
    private final Function failure = new Function("sw_failure");
    private final Function version = new Function("sw_version");
    /** Of the C library, which libstatwalk brings: the words that the JDK has, too. */
    private final Function strerror = new Function("strerror");

    /** A function of the library, which has at most three parameters, all integers or pointers. */
    private final class Function {
        private final String name;
        private volatile MemorySegment address;

        Function(String name) {
            this.name = name;
        }

        long call(long first, long second, long third) {
            try {
                MemorySegment of = address;
                if (of == null) {
                    of = address = symbols.find(name).orElseThrow();
                }
                return (long) Call.HANDLE.invokeExact(of, first, second, third);
            } catch (Error thrown) {
                throw thrown;
            } catch (Throwable thrown) {
                // A call of C throws nothing.
                throw new IllegalStateException(thrown);
            }
        }

        long call(long first) {
            return call(first, 0, 0);
        }

        int status(long first, long second) {
            return (int) call(first, second, 0);
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
        if (NativeLibrary.class.getResource(name) == null) {
            throw new IOException("this jar has no library for " + name
                    + "; name one by -Dstatwalk.library=PATH");
        }
        // A temporary folder can be full, or forbid execution.
        Path[] folders = {
            Path.of(System.getProperty("java.io.tmpdir")),
            Path.of(System.getProperty("user.home"), ".cache"),
        };
        List<String> reasons = new ArrayList<>();
        for (Path folder : folders) {
            Path file;
            try {
                file = copy(name, folder);
            } catch (IOException refused) {
                reasons.add(folder + ": " + refused.getMessage());
                continue;
            }
            try {
                return new NativeLibrary(file);
            } catch (IllegalArgumentException refused) {
                reasons.add(folder + ": " + refused.getMessage());
            } finally {
                // The system keeps what it has loaded.
                Files.deleteIfExists(file);
            }
        }
        throw new IOException("cannot load libstatwalk: " + String.join("; ", reasons)
                + "; name one by -Dstatwalk.library=PATH");
    }

    /** Copies a file of the jar into a folder, whole or not at all. */
    private static Path copy(String name, Path folder) throws IOException {
        Files.createDirectories(folder);
        Path file = createFile(folder);
        try (InputStream bytes = NativeLibrary.class.getResourceAsStream(name);
                OutputStream copy = Files.newOutputStream(file)) {
            bytes.transferTo(copy);
            return file;
        } catch (IOException refused) {
            Files.deleteIfExists(file);
            throw refused;
        }
    }

    /**
     * Makes a new file that its owner alone can use. Another user can guess its name and take
     * it, but not change the file. The random names of the JDK load its security providers,
     * which takes milliseconds.
     */
    private static Path createFile(Path folder) throws IOException {
        FileAttribute<?> forOwner = PosixFilePermissions.asFileAttribute(
                EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE));
        String prefix = "libstatwalk-" + ProcessHandle.current().pid() + "-";
        for (long number = System.nanoTime(); ; number++) {
            try {
                return Files.createFile(folder.resolve(prefix + number + ".so"), forOwner);
            } catch (FileAlreadyExistsException taken) {
                continue;
            }
        }
    }

    private NativeLibrary(Path file) throws IOException {
        try {
            symbols = SymbolLookup.libraryLookup(file, Arena.global());
        } catch (IllegalCallerException denied) {
            throw new IOException("this JVM forbids native code: start it with"
                    + " --enable-native-access=ALL-UNNAMED, or =org.statwalk on the module path",
                    denied);
        }
        if (symbols.find(version.name).isEmpty()) {
            throw new IOException(file + " is not libstatwalk");
        }
        String found = NativeMemory.text(version.call(0));
        if (!VERSION.equals(found)) {
            throw new IOException(file + " is libstatwalk " + found + ", not " + VERSION);
        }
    }

    /** Begins a scan that gives tables. An option that has its default is not set. */
    long open(List<byte[]> roots, int columns, ScanOptions options) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            long scan = scanNew.call(text(arena, roots.get(0)));
            if (scan == 0) {
                throw new IOException(failure());
            }
            try {
                for (int root = 1; root < roots.size(); root++) {
                    check(scanRoot.status(scan, text(arena, roots.get(root))));
                }
                check(scanColumns.status(scan, columns));
                if (options.nativeFlags() != 0) {
                    check(scanOptions.status(scan, options.nativeFlags()));
                }
                if (options.threads != 0) {
                    check(scanThreads.status(scan, options.threads));
                }
                if (options.maxDepth != Integer.MAX_VALUE) {
                    check(scanDepth.status(scan, options.maxDepth));
                }
                if (options.minDepth != 0) {
                    check(scanMinDepth.status(scan, options.minDepth));
                }
                for (byte[] pattern : options.excluded) {
                    check(scanExclude.status(scan, text(arena, pattern)));
                }
                long out = arena.allocate(Long.BYTES, Long.BYTES).address();
                check(open.status(scan, out));
                return NativeMemory.longs(out, 1)[0];
            } finally {
                scanFree.call(scan);
            }
        }
    }

    /** The address of a copy that ends with a NUL. */
    private static long text(Arena arena, byte[] bytes) {
        MemorySegment text = arena.allocate(bytes.length + 1L);
        MemorySegment.copy(bytes, 0, text, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return text.address();
    }

    private void check(int status) throws IOException {
        if (status != OK) {
            throw new IOException(failure());
        }
    }

    int next(long tables, int timeoutMs, long out) {
        return (int) next.call(tables, timeoutMs, out);
    }

    void skip(long tables, int directory) {
        int status = skip.status(tables, directory);
        assert status == OK : failure();
    }

    boolean isSkipped(long tables, int directory) {
        // A bool leaves the bits above its byte undefined.
        return (isSkipped.call(tables, directory, 0) & 1) != 0;
    }

    ScanEnd close(long tables) {
        try (Arena arena = Arena.ofConfined()) {
            long report = arena.allocate(REPORT_BYTES, Long.BYTES).address();
            int status = close.status(tables, report);
            if (status == OK) {
                return ScanEnd.COMPLETE;
            }
            boolean isInterrupted = status < 0 || NativeMemory.bytes(report, 2)[1] != 0;
            return isInterrupted ? ScanEnd.INTERRUPTED : ScanEnd.INCOMPLETE;
        }
    }

    void free(long table) {
        free.call(table);
    }

    long error(long tables) {
        return error.call(tables);
    }

    /** The words of the system for the number of an error. */
    String reason(int number) {
        return PathBytes.text(NativeMemory.toNul(strerror.call(number)));
    }

    String failure() {
        return NativeMemory.text(failure.call(0));
    }
}
