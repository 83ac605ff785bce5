// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.util.HashSet;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.function.Predicate;

/**
 * Decides which directories of a scan are entered.
 *
 * <p>Batches with paths come in order, a directory before all that is below it. The library leaves
 * out what is below a pruned directory from the next batch on.
 */
final class Pruning {
    private final Predicate<? super AttributedPath> prune;
    private final IntConsumer skip;
    /** The directories of the last batch that are pruned, or lie below one, by their numbers. */
    private final Set<Integer> leftOut = new HashSet<>();

    Pruning(Predicate<? super AttributedPath> prune, IntConsumer skip) {
        this.prune = prune;
        this.skip = skip;
    }

    /** Asks about the directories of the next batch. */
    void ask(Rows directories) {
        leftOut.clear();
        for (int row = 0; row < directories.length; row++) {
            int id = directories.ids[row];
            if (!keeps(directories, row)) {
                leftOut.add(id);
            } else if (!directories.isRoot(row)
                    && prune.test(new AttributedPath(directories, row))) {
                leftOut.add(id);
                skip.accept(id);
            }
        }
    }

    /** Whether a row of that batch is an entry for the caller. */
    boolean keeps(Rows rows, int row) {
        return leftOut.isEmpty() || rows.isRoot(row) || !leftOut.contains(rows.dirs[row]);
    }
}
