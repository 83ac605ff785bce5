// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
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
            assertEquals("minDepth" + words, assertThrows(IllegalArgumentException.class,
                    () -> ScanOptions.DEFAULT.withMinDepth(number)).getMessage());
            assertEquals("threads" + words, assertThrows(IllegalArgumentException.class,
                    () -> ScanOptions.DEFAULT.withThreads(number)).getMessage());
            assertEquals("maxDepth" + words, assertThrows(IllegalArgumentException.class,
                    () -> Statwalk.walkFileTree(tree, Set.of(), number, new SimpleFileVisitor<>() {}))
                    .getMessage());
        }
    }

    @Test
    void namesAloneKnowDirectories() throws IOException {
        ScanOptions options = ScanOptions.DEFAULT.withNamesAlone();
        assertEquals(EVERYTHING, names(options));
        assertEquals(Set.of("a", "b", "keep.c", "keep.h"), names(options.withExclude("*.o")));
        try (Stream<AttributedPath> entries = Statwalk.walk(tree, options)) {
            entries.forEach(entry -> {
                assertEquals(Files.isDirectory(entry.path()), entry.isDirectory());
                assertTrue(entry.hasAttributes());
                // The JDK is asked.
                assertEquals(entry.isDirectory(), entry.attributes().isDirectory());
                assertTrue(entry.attributes().lastModifiedTime().toMillis() > 0);
            });
        }
        Path gone = tree.resolve("keep.c");
        try (Stream<AttributedPath> entries = Statwalk.walk(tree, options)) {
            AttributedPath entry = entries.filter(one -> one.name().equals("keep.c")).findFirst().get();
            Files.delete(gone);
            UncheckedIOException failure =
                    assertThrows(UncheckedIOException.class, entry::attributes);
            assertEquals(NoSuchFileException.class, failure.getCause().getClass());
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

    /** The paths below a directory by sorted names. */
    private static void byName(Path directory, boolean isContentsFirst, List<Path> found)
            throws IOException {
        List<Path> below;
        try (Stream<Path> listed = Files.list(directory)) {
            below = listed.sorted(Comparator.comparing(path -> path.getFileName().toString())).toList();
        }
        for (Path path : below) {
            if (!isContentsFirst) {
                found.add(path);
            }
            if (Files.isDirectory(path)) {
                byName(path, isContentsFirst, found);
            }
            if (isContentsFirst) {
                found.add(path);
            }
        }
    }

    private List<Path> paths(ScanOptions options) throws IOException {
        try (Stream<AttributedPath> entries = Statwalk.walk(tree, options)) {
            return entries.map(AttributedPath::path).toList();
        }
    }

    @Test
    void entriesComeByPath() throws IOException {
        Random random = new Random(1);
        List<Path> directories = new ArrayList<>(List.of(tree));
        for (int number = 0; number < 300; number++) {
            Path above = directories.get(random.nextInt(directories.size()));
            Path path = above.resolve("zyxcba".charAt(random.nextInt(6)) + "-." + number);
            if (random.nextInt(10) < 4) {
                directories.add(Files.createDirectory(path));
            } else {
                Files.createFile(path);
            }
        }
        for (int threads : new int[] {1, 2, 7}) {
            ScanOptions options = ScanOptions.DEFAULT.withThreads(threads);
            List<Path> sorted = new ArrayList<>();
            byName(tree, false, sorted);
            assertEquals(sorted, paths(options.withSort()));
            List<Path> deep = sorted.stream()
                    .filter(path -> path.getNameCount() - tree.getNameCount() >= 3).toList();
            assertEquals(deep, paths(options.withSort().withMinDepth(3)));
            assertEquals(Set.copyOf(deep), Set.copyOf(paths(options.withMinDepth(3))));
            assertEquals(List.of(), paths(options.withMinDepth(1_000)));
            List<Path> contentsFirst = new ArrayList<>();
            byName(tree, true, contentsFirst);
            assertEquals(contentsFirst, paths(options.withContentsFirst()));
            List<Path> top = sorted.stream()
                    .filter(path -> path.getParent().equals(tree)).toList();
            assertEquals(top, paths(options.withSort().withPrune(directory -> true)));
        }
    }

    @Test
    void nothingIsLeftOutWithContentsFirst() {
        ScanOptions first = ScanOptions.DEFAULT.withContentsFirst();
        ScanOptions prune = ScanOptions.DEFAULT.withPrune(directory -> false);
        String words = "nothing can be left out by withPrune with withContentsFirst: all below a"
                + " directory comes before it";
        assertEquals(words, assertThrows(IllegalArgumentException.class,
                () -> first.withPrune(directory -> false)).getMessage());
        assertEquals(words, assertThrows(IllegalArgumentException.class,
                prune::withContentsFirst).getMessage());
    }

    @Test
    void patternsAreOneOrSeveral() throws IOException {
        ScanOptions one = ScanOptions.DEFAULT.withExclude("*.o");
        assertEquals(Set.of("a", "b", "keep.c", "keep.h"), names(one));
        assertEquals(Set.of("a", "b", "keep.c"), names(one.withExclude("*.o", "*.h")));
        // Others take the place of earlier ones, and change no options.
        assertEquals(Set.of("a", "b", "drop.o", "keep.c"), names(one.withExclude("*.h")));
        assertEquals(Set.of("a", "b", "keep.c", "keep.h"), names(one));
        assertEquals(EVERYTHING, names(one.withExclude()));
        assertThrows(IllegalArgumentException.class, () -> one.withExclude("a\0b"));
        assertThrows(NullPointerException.class, () -> one.withExclude("a", null));
    }

    @Test
    void linksAreFollowedOnRequest() throws IOException {
        Path outside = Files.createDirectory(tree.resolve("a/outside"));
        Files.createFile(outside.resolve("behind"));
        Path root = Files.createDirectory(tree.resolve("root"));
        Files.createSymbolicLink(root.resolve("link"), outside);
        Files.createSymbolicLink(root.resolve("again"), outside);
        try (Stream<AttributedPath> entries = Statwalk.walk(root)) {
            assertEquals(Set.of("link", "again"),
                    entries.map(AttributedPath::name).collect(Collectors.toSet()));
        }
        ScanOptions options = ScanOptions.DEFAULT.withFollowLinks();
        try (Stream<AttributedPath> entries = Statwalk.walk(root, options)) {
            List<AttributedPath> found = entries.toList();
            List<Path> behind = found.stream().map(AttributedPath::path)
                    .filter(path -> path.endsWith("behind")).toList();
            // Nothing comes twice: the first of the links in path order has it.
            assertEquals(List.of(root.resolve("again/behind")), behind);
            assertTrue(found.stream().anyMatch(entry ->
                    entry.name().equals("again") && entry.attributes().isDirectory()));
        }
    }

    @Test
    void whatGitignoreNamesIsLeftOutOnRequest() throws IOException {
        Files.writeString(tree.resolve("a/.gitignore"), "*.o\n");
        assertEquals(Set.of("a", "b", ".gitignore", "keep.c", "keep.h"),
                names(ScanOptions.DEFAULT.withGitignore()));
        assertEquals(Set.of("a", "b", ".gitignore", "keep.h"),
                names(ScanOptions.DEFAULT.withGitignore().withExclude("*.c")));
    }

    private static boolean entersProc(ScanOptions options) throws IOException {
        ScanOptions shallow = options.withMaxDepth(2).withOnError(error -> {});
        try (Stream<AttributedPath> entries = Statwalk.walk(Path.of("/"), shallow)) {
            return entries.anyMatch(entry -> entry.path().startsWith("/proc/self"));
        }
    }

    @Test
    void otherFileSystemsAreEnteredOnRequest() throws IOException {
        assertFalse(entersProc(ScanOptions.DEFAULT));
        assertTrue(entersProc(ScanOptions.DEFAULT.withKernelFileSystems()));
        assertFalse(entersProc(ScanOptions.DEFAULT.withKernelFileSystems().withOneFileSystem()));
    }
}
