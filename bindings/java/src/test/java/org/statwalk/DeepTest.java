// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import outside.Program;

/** A directory deep in a tree, with many files: each of their paths is long. */
class DeepTest {
    private static final String NAME = "/ten_bytes_";
    private static final int LEVELS_AT_ONCE = 300;

    /** Its paths are longer than the JDK can have them. */
    @TempDir(cleanup = CleanupMode.NEVER)
    Path tree;

    @AfterEach
    void remove() throws Exception {
        Java.run("rm", "-rf", tree.toString());
    }

    /** Makes the deepest part first, and moves each into the next: all paths stay short. */
    private Path deep(int levels, int files) throws IOException {
        Path made = null;
        for (int level = 0; level < levels; level += LEVELS_AT_ONCE) {
            Path top = tree.resolve("part" + level);
            Path end = Files.createDirectories(
                    Path.of(top + NAME.repeat(LEVELS_AT_ONCE - 1)));
            if (made == null) {
                for (int file = 0; file < files; file++) {
                    Files.createFile(end.resolve("f" + file));
                }
            } else {
                Files.move(made, end.resolve("part"));
            }
            made = top;
        }
        return made;
    }

    private static void walks(Path top, int count, long longest) throws IOException {
        String[] words = Java.output("-Xmx48m", "--enable-native-access=ALL-UNNAMED", "-cp",
                Java.classPath(), Program.class.getName(), "deep", top.toString()).strip().split(" ");
        assertEquals(count, Integer.parseInt(words[0]), () -> String.join(" ", words));
        assertTrue(Long.parseLong(words[1]) > longest, words[1] + " bytes");
        assertTrue(Integer.parseInt(words[2]) < 100, words[2] + " MB");
    }

    @Test
    void itsPathsAreNotAllInMemory() throws IOException {
        int files = 70_000;
        walks(deep(3_000, files), 2_999 + files, 3_000 * 10);
    }

    @Test
    void pathsAreLongerThanTheSystemTakesThem() throws IOException {
        int files = 17_000;
        walks(deep(12_000, files), 11_999 + files, 12_000 * 10);
    }
}
