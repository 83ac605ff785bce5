// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * Copies of memory of the library, by its address.
 *
 * <p>Everything is copied in bulk from one segment. A segment for each piece, and single
 * values by var handles, make work for the compiler of the JVM, which is then longer than the
 * scan itself.
 */
final class NativeMemory {
    /** The longest array of every JVM. */
    private static final int LONGEST = Integer.MAX_VALUE - 8;
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private NativeMemory() {}

    /** The length of an array that shall hold so many values. */
    static int length(long count) throws IOException {
        if (count < 0 || count > LONGEST) {
            throw new IOException("a table has " + count + " values, more than an array can hold");
        }
        return (int) count;
    }

    /** Values at an address; null where that is null. */
    static byte[] bytes(long address, int length) {
        if (address == 0) {
            return null;
        }
        byte[] values = new byte[length];
        MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, address, values, 0, length);
        return values;
    }

    static short[] shorts(long address, int length) {
        if (address == 0) {
            return null;
        }
        short[] values = new short[length];
        MemorySegment.copy(ALL, ValueLayout.JAVA_SHORT, address, values, 0, length);
        return values;
    }

    static int[] ints(long address, int length) {
        if (address == 0) {
            return null;
        }
        int[] values = new int[length];
        MemorySegment.copy(ALL, ValueLayout.JAVA_INT, address, values, 0, length);
        return values;
    }

    static long[] longs(long address, int length) {
        if (address == 0) {
            return null;
        }
        long[] values = new long[length];
        MemorySegment.copy(ALL, ValueLayout.JAVA_LONG, address, values, 0, length);
        return values;
    }

    /** A text that ends with a NUL. Few are read, and all are short. */
    static String text(long address) {
        return new String(toNul(address), StandardCharsets.UTF_8);
    }

    /** The bytes before a NUL. */
    static byte[] toNul(long address) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (byte[] one; (one = bytes(address, 1))[0] != 0; address++) {
            text.write(one[0]);
        }
        return text.toByteArray();
    }
}
