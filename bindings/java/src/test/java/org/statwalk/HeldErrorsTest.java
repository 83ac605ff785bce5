// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeldErrorsTest {
    private final List<String> reported = new ArrayList<>();
    private final HeldErrors errors = new HeldErrors(error -> reported.add(error.getFile()));

    private void add(String path) {
        errors.add(new EntryException(path.getBytes(), "open", 13, "permission denied"));
    }

    private void decide(String path, boolean isWanted) {
        Rows rows = new Rows();
        rows.paths = ("other" + path).getBytes();
        rows.pathOffsets = new long[] {0, 5, rows.paths.length};
        errors.decide(rows, 1, isWanted);
    }

    @Test
    void anErrorWaitsForItsEntry() {
        add("/a/b");
        add("/a/b");
        add("/a/c");
        decide("/a", true);
        assertEquals(List.of(), reported);
        decide("/a/b", true);
        assertEquals(List.of("/a/b", "/a/b"), reported);
        decide("/a/c", false);
        errors.reportRest(error -> true);
        assertEquals(List.of("/a/b", "/a/b"), reported);
    }

    /** A worker that hangs can give rows before errors that were found earlier. */
    @Test
    void anErrorCanComeAfterItsEntry() {
        for (int number = 0; number < 10_000; number++) {
            decide("/a/" + number, true);
        }
        for (int number = 0; number < 10_000; number++) {
            add("/a/" + number);
            assertEquals(number + 1, reported.size());
        }
        for (int number = 10_000; number < 20_000; number++) {
            add("/a/" + number);
        }
        assertEquals(10_000, reported.size());
        errors.reportRest(error -> error.getFile().endsWith("7"));
        assertEquals(11_000, reported.size());
        errors.reportRest(error -> true);
        assertEquals(11_000, reported.size());
    }

    /** A root behind a link is read with a slash at its end, and errors are as long. */
    @Test
    void slashesAtTheEndOfARootDoNotMatter() {
        add("root/");
        decide("root", true);
        add("/");
        decide("/", true);
        assertEquals(List.of("root/", "/"), reported);
    }
}
