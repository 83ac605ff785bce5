// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static java.nio.file.FileVisitResult.CONTINUE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The named and random trees of the project, beside the walkers of the JDK. */
class NamedTreesTest {
    private static final Path TREES = Path.of(System.getProperty("statwalk.trees", "absent"));
    /** PATH_MAX of Linux, with the NUL at the end. The JDK has no longer paths. */
    private static final int PATH_MAX = 4096;
    private static final int DEEP = "deep".length() + 2 * 2_000 + "/f".length();
    /** Those whose links lead to nothing but themselves. */
    private static final List<String> FOLLOWED = List.of("basic", "hard_links", "odd_names", "times");

    private List<Path> trees;

    @BeforeEach
    void list() throws IOException {
        assumeTrue(Files.isDirectory(TREES), "needs the trees of `cargo xtask bindings`");
        try (Stream<Path> found = Files.list(TREES)) {
            trees = found.filter(NamedTreesTest::canBeWalked).sorted().collect(Collectors.toList());
        }
        assertTrue(trees.size() > 40);
    }

    private static boolean canBeWalked(Path tree) {
        return switch (tree.getFileName().toString()) {
            case "permissions" -> Java.isRoot();
            case "deep" -> tree.getParent().toString().length() + 1 + DEEP < PATH_MAX;
            default -> true;
        };
    }

    @Test
    void entriesAreThoseOfTheJdk() throws IOException {
        for (Path tree : trees) {
            StatwalkTest.check(tree);
        }
    }

    @Test
    void directoriesHoldWhatTheJdkLists() throws IOException {
        for (Path tree : trees) {
            List<Path> directories;
            try (Stream<Path> all = Files.walk(tree)) {
                directories = all.filter(path -> Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                        .collect(Collectors.toList());
            }
            // The root of each scan costs a call for each name in its path, so a deep tree has some.
            int step = 1 + directories.size() / 64;
            for (int number = 0; number < directories.size(); number += step) {
                Path directory = directories.get(number);
                Set<Path> expected = new HashSet<>();
                try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
                    stream.forEach(expected::add);
                }
                List<Path> found = new ArrayList<>();
                try (DirectoryStream<AttributedPath> stream = Statwalk.list(directory)) {
                    stream.forEach(entry -> found.add(entry.path()));
                }
                assertEquals(expected.size(), found.size());
                assertEquals(expected, new HashSet<>(found));
            }
        }
    }

    @Test
    void visitsAreThoseOfTheJdk() {
        for (Path tree : trees) {
            Visits.same(tree, Set.of(), Integer.MAX_VALUE, (call, path) -> CONTINUE);
            Visits.same(tree, Set.of(), 2, (call, path) -> CONTINUE);
        }
        for (String name : FOLLOWED) {
            Visits.same(TREES.resolve(name), EnumSet.of(FileVisitOption.FOLLOW_LINKS),
                    Integer.MAX_VALUE, (call, path) -> CONTINUE);
        }
    }

    /** The bytes of all paths in hexadecimal digits, as find(1) has them. */
    private static Set<String> byFind(Path tree) throws IOException {
        byte[] output = new ProcessBuilder("find", tree.toString(), "-mindepth", "1", "-print0")
                .start().getInputStream().readAllBytes();
        Set<String> paths = new TreeSet<>();
        int begin = 0;
        for (int at = 0; at < output.length; at++) {
            if (output[at] == 0) {
                paths.add(Names.hexadecimal(output, begin, at));
                begin = at + 1;
            }
        }
        return paths;
    }

    /** In an encoding that has most of them, and in one that has few. */
    @Test
    void namesThatAreNoTextLeadToTheirFiles() throws IOException {
        List<Path> odd = trees.stream()
                .filter(tree -> tree.endsWith("odd_names") || tree.toString().contains("/random-"))
                .collect(Collectors.toList());
        List<String> arguments = new ArrayList<>(
                List.of("--enable-native-access=ALL-UNNAMED", "-cp", Java.classPath()));
        arguments.add(Names.class.getName());
        odd.forEach(tree -> arguments.add(tree.toString()));
        Set<String> expected = new TreeSet<>();
        for (Path tree : odd) {
            expected.addAll(byFind(tree));
        }
        List<Integer> counts = new ArrayList<>();
        for (String locale : List.of("C.UTF-8", "C")) {
            String output = Java.output(List.of("env", "LC_ALL=" + locale), arguments);
            List<String> lines = output.lines().collect(Collectors.toList());
            assertTrue(lines.size() > 1, output);
            String count = lines.get(lines.size() - 1);
            assertTrue(count.matches("[0-9]+ are no text"), count);
            counts.add(Integer.parseInt(count.substring(0, count.indexOf(' '))));
            assertEquals(expected, new TreeSet<>(lines.subList(0, lines.size() - 1)), locale);
            assertEquals(expected.size(), lines.size() - 1, locale);
        }
        assertTrue(counts.get(0) > 100 && counts.get(1) > counts.get(0), counts::toString);
    }
}
