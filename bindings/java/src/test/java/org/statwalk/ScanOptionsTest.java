// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Values of options: each means something, or is an exception that names the option. */
class ScanOptionsTest {
    private static final Set<String> EVERYTHING = Set.of("a", "b", "drop.o", "keep.c", "keep.h");

    @TempDir
    Path tree;

    @BeforeEach
    void make() throws IOException {
        Files.createDirectories(tree.resolve("a/b"));
        for (String name : new String[] {"keep.c", "a/keep.h", "a/b/drop.o"}) {
            Files.createFile(tree.resolve(name));
        }
    }

    private Set<String> names(ScanOptions options) throws IOException {
        try (Stream<AttributedPath> entries = Statwalk.walk(tree, options)) {
            return entries.map(AttributedPath::name).collect(Collectors.toSet());
        }
    }

    @Test
    void aNegativeNumberIsNamed() {
        for (int number : new int[] {-1, Integer.MIN_VALUE}) {
            String words = " is a whole number from 0 on, and not " + number;
            assertEquals("maxDepth" + words, assertThrows(IllegalArgumentException.class,
                    () -> ScanOptions.DEFAULT.withMaxDepth(number)).getMessage());
            assertEquals("threads" + words, assertThrows(IllegalArgumentException.class,
                    () -> ScanOptions.DEFAULT.withThreads(number)).getMessage());
            assertEquals("maxDepth" + words, assertThrows(IllegalArgumentException.class,
                    () -> Statwalk.walkFileTree(tree, Set.of(), number, new SimpleFileVisitor<>() {}))
                    .getMessage());
        }
    }

    @Test
    void numbersMeanWhatTheySay() throws IOException {
        for (int threads : new int[] {0, 1, 3}) {
            assertEquals(EVERYTHING, names(ScanOptions.DEFAULT.withThreads(threads)));
        }
        for (int depth : new int[] {3, 1000, Integer.MAX_VALUE}) {
            assertEquals(EVERYTHING, names(ScanOptions.DEFAULT.withMaxDepth(depth)));
        }
        assertEquals(Set.of(), names(ScanOptions.DEFAULT.withMaxDepth(0)));
        assertEquals(Set.of("a", "keep.c"), names(ScanOptions.DEFAULT.withMaxDepth(1)));
    }
}
