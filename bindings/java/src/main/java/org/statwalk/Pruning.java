// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Predicate;

/**
 * Decides which directories of a scan are entered, each after the one above it.
 *
 * <p>A batch with a directory can come after one with what is below it. So batches wait until
 * everything above their entries was decided. So do errors, in {@link HeldErrors}.
 */
final class Pruning {
    private static final byte UNDECIDED = 0;
    private static final byte ENTERED = 1;
    /** It is an entry, and nothing below it is. */
    private static final byte PRUNED = 2;
    private static final byte BELOW = 3;

    private record Place(Rows rows, int row) {}

    private final Predicate<? super AttributedPath> prune;
    private final IntConsumer skip;
    /** By the number of the directory. */
    private byte[] fates = new byte[64];
    /** Directories that wait for the one above them, by its number. */
    private final Map<Integer, List<Place>> waiting = new HashMap<>();
    private final List<Rows> held = new ArrayList<>();
    private final Set<String> prunedPaths = new HashSet<>();
    private final HeldErrors errors;

    Pruning(Predicate<? super AttributedPath> prune, IntConsumer skip,
            Consumer<EntryException> onError) {
        this.prune = prune;
        this.skip = skip;
        this.errors = new HeldErrors(onError);
    }

    /** Takes an error. It is reported when its entry is one for the caller. */
    void add(EntryException error) {
        if (!leavesOut(error.pathBytes())) {
            errors.add(error);
        }
    }

    /** Reports the errors whose entry has not come. */
    void end() {
        errors.reportRest(error -> !leavesOut(error.pathBytes()));
    }

    /** Takes a batch, and gives those whose directories are decided. */
    void add(Rows[] tables, Queue<Rows> ready) {
        Rows directories = tables[0];
        for (int row = 0; row < directories.length; row++) {
            Place place = new Place(directories, row);
            if (directories.isRoot(row)) {
                settle(place, ENTERED);
                continue;
            }
            byte above = fate(directories.dirs[row]);
            if (above == UNDECIDED) {
                waiting.computeIfAbsent(directories.dirs[row], key -> new ArrayList<>()).add(place);
            } else {
                settle(place, below(place, above));
            }
        }
        held.addAll(Arrays.asList(tables));
        for (Iterator<Rows> rows = held.iterator(); rows.hasNext(); ) {
            Rows next = rows.next();
            if (isDecided(next)) {
                rows.remove();
                ready.add(next);
                decideUnknown(next);
            }
        }
    }

    /** Decides errors of entries that are no directories. */
    private void decideUnknown(Rows rows) {
        if (rows.ids != null || rows.isKnown == null) {
            return;
        }
        for (int row = 0; row < rows.length; row++) {
            if (!rows.isKnown(row)) {
                errors.decide(rows, row, keeps(rows, row));
            }
        }
    }

    /** Notes what becomes of a directory, and of those that waited for it. */
    private void settle(Place first, byte its) {
        Deque<Place> places = new ArrayDeque<>();
        note(first, its);
        places.add(first);
        for (Place place; (place = places.poll()) != null; ) {
            int id = place.rows.ids[place.row];
            List<Place> below = waiting.remove(id);
            if (below != null) {
                for (Place next : below) {
                    note(next, below(next, fates[id]));
                    places.add(next);
                }
            }
        }
    }

    private byte below(Place place, byte above) {
        if (above != ENTERED) {
            return BELOW;
        }
        AttributedPath directory = new AttributedPath(place.rows, place.row);
        return prune.test(directory) ? PRUNED : ENTERED;
    }

    private void note(Place place, byte fate) {
        int id = place.rows.ids[place.row];
        if (id >= fates.length) {
            fates = Arrays.copyOf(fates, Math.max(id + 1, fates.length * 2));
        }
        fates[id] = fate;
        if (fate == PRUNED) {
            prunedPaths.add(key(new AttributedPath(place.rows, place.row).pathBytes()));
            skip.accept(id);
        }
        errors.decide(place.rows, place.row, fate == ENTERED);
    }

    private byte fate(int directory) {
        return directory < fates.length ? fates[directory] : UNDECIDED;
    }

    private boolean isDecided(Rows rows) {
        int[] directories = rows.ids == null ? rows.dirs : rows.ids;
        for (int row = 0; row < rows.length; row++) {
            boolean isFile = rows.ids == null && rows.isRoot(row);
            if (!isFile && fate(directories[row]) == UNDECIDED) {
                return false;
            }
        }
        return true;
    }

    /** Whether a row of a batch that was given is an entry for the caller. */
    boolean keeps(Rows rows, int row) {
        return rows.ids == null
                ? !rows.isRoot(row) && fates[rows.dirs[row]] == ENTERED
                : fates[rows.ids[row]] != BELOW;
    }

    /** Whether a path is that of a pruned directory, or lies below one. */
    private boolean leavesOut(byte[] path) {
        if (prunedPaths.isEmpty()) {
            return false;
        }
        String key = key(path);
        for (int end = key.indexOf('/', 1); end >= 0; end = key.indexOf('/', end + 1)) {
            if (prunedPaths.contains(key.substring(0, end))) {
                return true;
            }
        }
        return prunedPaths.contains(key);
    }

    /** A string for each sequence of bytes. */
    private static String key(byte[] path) {
        return HeldErrors.key(path, 0, path.length);
    }
}
