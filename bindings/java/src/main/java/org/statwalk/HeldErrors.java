// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Holds each error until it is decided whether its entry is wanted.
 *
 * <p>Mostly an error comes before the row of its entry. Where it comes later, a hash of the path
 * says that the row was decided.
 */
final class HeldErrors {
    private final Consumer<EntryException> report;
    /** By the path of the entry. */
    private final Map<String, List<EntryException>> held = new HashMap<>();
    /**
     * Hashes of the paths that were decided, in a table with room; 0 is an empty place. Whole
     * paths would be most of the memory of a scan. Two paths with one hash do little harm: an
     * error comes before its entry was decided.
     */
    private long[] decided = new long[128];
    private int count;

    HeldErrors(Consumer<EntryException> report) {
        this.report = report;
    }

    /** Takes an error that does not lie below a pruned directory that is known. */
    void add(EntryException error) {
        byte[] path = error.pathBytes();
        int end = end(path, 0, path.length);
        long hash = hash(path, 0, end);
        if (decided[place(decided, hash)] == hash) {
            report.accept(error);
        } else {
            held.computeIfAbsent(key(path, 0, end), key -> new ArrayList<>()).add(error);
        }
    }

    /** Takes the answer for the entry of a row. */
    void decide(Rows rows, int row, boolean isWanted) {
        int begin = (int) rows.pathOffsets[row];
        int end = end(rows.paths, begin, (int) rows.pathOffsets[row + 1]);
        note(hash(rows.paths, begin, end));
        if (held.isEmpty()) {
            return;
        }
        List<EntryException> errors = held.remove(key(rows.paths, begin, end));
        if (errors != null && isWanted) {
            errors.forEach(report);
        }
    }

    /** Reports those whose entry has not come, as far as they are wanted. */
    void reportRest(Predicate<EntryException> isWanted) {
        held.values().stream().flatMap(List::stream).filter(isWanted).forEach(report);
        held.clear();
    }

    private void note(long hash) {
        int place = place(decided, hash);
        if (decided[place] == hash) {
            return;
        }
        decided[place] = hash;
        count++;
        if (count > decided.length / 2) {
            long[] larger = new long[decided.length * 2];
            for (long other : decided) {
                if (other != 0) {
                    larger[place(larger, other)] = other;
                }
            }
            decided = larger;
        }
    }

    /** Where a hash is, or would be. */
    private static int place(long[] table, long hash) {
        int place = (int) (hash ^ hash >>> 32) & table.length - 1;
        while (table[place] != 0 && table[place] != hash) {
            place = place + 1 & table.length - 1;
        }
        return place;
    }

    /** The end of a path without the slashes at its end, which a root can have. */
    private static int end(byte[] path, int begin, int end) {
        while (end > begin && path[end - 1] == '/') {
            end--;
        }
        return end;
    }

    private static long hash(byte[] path, int begin, int end) {
        // FNV-1a, and then the last step of MurmurHash3, for the low bits.
        long hash = 0xcbf29ce484222325L;
        for (int at = begin; at < end; at++) {
            hash = (hash ^ path[at]) * 0x100000001b3L;
        }
        hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
        hash ^= hash >>> 33;
        return hash == 0 ? 1 : hash;
    }

    /** A string for each sequence of bytes. */
    static String key(byte[] path, int begin, int end) {
        return new String(path, begin, end - begin, StandardCharsets.ISO_8859_1);
    }
}
