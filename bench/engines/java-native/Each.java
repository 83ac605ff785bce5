// SPDX-License-Identifier: MIT OR Apache-2.0

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** getdents64(2) for many names, and statx(2), called from Java for each entry. */
public final class Each {
    // struct linux_dirent64 of getdents64(2): inode, offset, length of the record, type, name.
    private static final int LENGTH_AT = 16;
    private static final int TYPE_AT = 18;
    private static final int NAME_AT = 19;
    private static final int BUFFER_BYTES = 32768;
    private static final byte DT_UNKNOWN = 0;
    private static final byte DT_DIR = 4;

    private static final int AT_SYMLINK_NOFOLLOW = 0x100;
    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int STATX_BYTES = 256;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private static final MethodHandle OPENDIR = function("opendir", FunctionDescriptor.of(ADDRESS, ADDRESS));
    private static final MethodHandle DIRFD = function("dirfd", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    private static final MethodHandle GETDENTS =
            function("getdents64", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle CLOSEDIR = function("closedir", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    private static final MethodHandle STATX =
            function("statx", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS));

    private final MemorySegment state;
    private final MemorySegment attributes;
    private final MemorySegment buffer;

    private Each(Arena arena) {
        state = arena.allocate(STATE);
        attributes = arena.allocate(STATX_BYTES, 8);
        buffer = arena.allocate(BUFFER_BYTES, 8);
    }

    private static MethodHandle function(String name, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().find(name).orElseThrow(), descriptor, Linker.Option.captureCallState("errno"));
    }

    private int errno() {
        return (int) ERRNO.get(state, 0L);
    }

    private void read(byte[] path, Walk walk) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment directory = (MemorySegment) OPENDIR.invokeExact(state, arena.allocateFrom(JAVA_BYTE, path));
            if (directory.equals(MemorySegment.NULL)) {
                Walk.report(path, "opendir", errno());
                return;
            }
            try {
                entries(path, directory, walk);
            } finally {
                int ignored = (int) CLOSEDIR.invokeExact(state, directory);
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private void entries(byte[] path, MemorySegment directory, Walk walk) throws Throwable {
        int descriptor = (int) DIRFD.invokeExact(state, directory);
        while (true) {
            long length = (long) GETDENTS.invokeExact(state, descriptor, buffer, (long) BUFFER_BYTES);
            if (length <= 0) {
                if (length < 0) {
                    Walk.report(path, "getdents64", errno());
                }
                return;
            }
            for (long at = 0; at < length; at += Short.toUnsignedInt(buffer.get(JAVA_SHORT, at + LENGTH_AT))) {
                entry(path, descriptor, buffer.asSlice(at), walk);
            }
        }
    }

    private void entry(byte[] path, int descriptor, MemorySegment found, Walk walk) throws Throwable {
        int end = NAME_AT;
        while (found.get(JAVA_BYTE, end) != 0) {
            end++;
        }
        boolean isOwn = found.get(JAVA_BYTE, NAME_AT) == '.'
                && (end == NAME_AT + 1 || end == NAME_AT + 2 && found.get(JAVA_BYTE, NAME_AT + 1) == '.');
        if (isOwn) {
            return;
        }
        // With its NUL, as paths here have one.
        byte[] name = found.asSlice(NAME_AT, end + 1 - NAME_AT).toArray(JAVA_BYTE);
        byte type = found.get(JAVA_BYTE, TYPE_AT);
        if (!walk.wantsSizes && type != DT_UNKNOWN) {
            walk.add(path, name, type == DT_DIR);
            return;
        }
        int status = (int) STATX.invokeExact(
                state, descriptor, found.asSlice(NAME_AT), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, attributes);
        if (status != 0) {
            Walk.report(name, "statx", errno());
            return;
        }
        int mode = Short.toUnsignedInt(attributes.get(JAVA_SHORT, 28));
        long size = attributes.get(JAVA_LONG, 40);
        if (walk.wantsRecords) {
            walk.add(path, new Entry(
                    name, mode, attributes.get(JAVA_INT, 16), attributes.get(JAVA_INT, 20), attributes.get(JAVA_INT, 24),
                    attributes.get(JAVA_LONG, 32), size, attributes.get(JAVA_LONG, 48),
                    attributes.get(JAVA_LONG, 64), attributes.get(JAVA_INT, 72),
                    attributes.get(JAVA_LONG, 96), attributes.get(JAVA_INT, 104),
                    attributes.get(JAVA_LONG, 112), attributes.get(JAVA_INT, 120)));
        } else {
            walk.add(path, name, mode, size);
        }
    }

    public static void main(String[] arguments) {
        Each each = new Each(Arena.global());
        Walk.main(arguments, each::read);
    }
}
