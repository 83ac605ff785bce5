// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static java.nio.file.FileVisitResult.CONTINUE;
import static java.nio.file.FileVisitResult.SKIP_SIBLINGS;
import static java.nio.file.FileVisitResult.SKIP_SUBTREE;
import static java.nio.file.FileVisitResult.TERMINATE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.statwalk.Visits.Recorder;
import org.statwalk.Visits.Rule;
import org.statwalk.Visits.Walker;

/** The contract of {@code Files.walkFileTree}: each case is run by the JDK and by statwalk. */
class WalkFileTreeTest {
    private static final Set<FileVisitOption> FOLLOW = EnumSet.of(FileVisitOption.FOLLOW_LINKS);

    @TempDir
    Path tree;

    private static List<String> same(
            Path start, Set<FileVisitOption> options, int depth, Rule rule) {
        return Visits.same(start, options, depth, rule);
    }

    private static List<String> same(Path start, Rule rule) {
        return same(start, Set.of(), Integer.MAX_VALUE, rule);
    }

    /** In a tree that others change now and then. */
    private static void alike(Path start, int depth, Rule rule) throws IOException {
        Calm.check(start, depth, () -> same(start, Set.of(), depth, rule));
    }

    private static final Rule GO_ON = (call, path) -> CONTINUE;

    /** A rule that answers in one way to one call. */
    private static Rule at(String call, Path path, FileVisitResult answer) {
        return (its, of) -> its.equals(call) && of.equals(path) ? answer : CONTINUE;
    }

    /** One line of directories, with a file in each: then no order is free but two. */
    private Path line() throws IOException {
        Path deepest = Files.createDirectories(tree.resolve("a/b/c/d"));
        Files.createFile(deepest.resolve("file"));
        return tree.resolve("a");
    }

    @Test
    void aTreeIsVisitedInOrder() throws IOException {
        Path a = line();
        List<String> calls = same(a, GO_ON);
        assertEquals(10, calls.size());
        Files.createDirectory(a.resolve("empty"));
        Files.createFile(a.resolve("b/other"));
        Files.createSymbolicLink(a.resolve("to_b"), Path.of("b"));
        assertEquals(14, same(a, GO_ON).size());
        assertEquals(14, same(tree.resolve("a/../a/."), GO_ON).size());
    }

    @Test
    void manyDirectoriesWithOneEachTakeFewScans() throws IOException {
        for (int number = 0; number < 3000; number++) {
            Files.createDirectories(tree.resolve("a/" + number + "/x"));
        }
        assertEquals(12_005, same(tree, GO_ON).size());
        Path skipped = tree.resolve("a/7");
        assertEquals(12_002, same(tree, at("pre", skipped, SKIP_SUBTREE)).size());
        TreeVisit visit = new TreeVisit(new SimpleFileVisitor<>() {}, false, Integer.MAX_VALUE);
        visit.visit(tree);
        assertTrue(visit.scans() < 40, visit.scans() + " scans");
    }

    /** A scan begins threads: it took ten times as long as the JDK for such a tree. */
    @Test
    void aSmallTreeTakesNoScan() throws IOException {
        Path a = line();
        for (int number = 0; number < 1200; number++) {
            Files.createFile(Files.createDirectories(a.resolve("b/" + number % 90))
                    .resolve("file" + number));
        }
        int[] visited = {0};
        TreeVisit whole = new TreeVisit(counting(visited, path -> CONTINUE), false, 100);
        whole.visit(a);
        assertEquals(5 + 90 + 1200, visited[0]);
        assertTrue(whole.scans() > 0 && whole.scans() < 6, whole.scans() + " scans");
        for (Path small : List.of(a.resolve("b/c"), a.resolve("b/7"))) {
            TreeVisit visit = new TreeVisit(counting(visited, path -> CONTINUE), false, 100);
            visit.visit(small);
            assertEquals(0, visit.scans());
        }
        TreeVisit skipping = new TreeVisit(counting(visited,
                path -> path.endsWith("7") ? SKIP_SUBTREE : CONTINUE), false, 100);
        skipping.visit(a);
        assertEquals(0, skipping.scans());
    }

    /** Counts entries, the directories in it too. */
    private static SimpleFileVisitor<Path> counting(
            int[] visited, Function<Path, FileVisitResult> answer) {
        return new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes of) {
                visited[0]++;
                return answer.apply(path);
            }

            @Override
            public FileVisitResult visitFile(Path path, BasicFileAttributes of) {
                visited[0]++;
                return CONTINUE;
            }
        };
    }

    @Test
    void theStartIsAFileALinkOrMissing() throws IOException {
        Path a = line();
        Path file = a.resolve("b/c/d/file");
        Path link = Files.createSymbolicLink(tree.resolve("link"), a);
        Path nowhere = Files.createSymbolicLink(tree.resolve("nowhere"), Path.of("absent"));
        for (Path start : List.of(file, link, nowhere, tree.resolve("absent"), file.resolve("x"))) {
            for (FileVisitResult answer : FileVisitResult.values()) {
                for (Set<FileVisitOption> options : List.of(Set.<FileVisitOption>of(), FOLLOW)) {
                    same(start, options, Integer.MAX_VALUE, (call, path) -> answer);
                    same(start, options, 0, (call, path) -> answer);
                }
            }
        }
        same(Path.of("src"), GO_ON);
        // Maven writes in the current directory, and everybody in /tmp.
        alike(Path.of(""), 1, GO_ON);
        alike(Path.of("./src/.."), 2, GO_ON);
        alike(Path.of("/"), 1, GO_ON);
    }

    @Test
    void everyAnswerToEveryCallIsAsInTheJdk() throws IOException {
        Path a = line();
        Path b = a.resolve("b");
        for (FileVisitResult answer : FileVisitResult.values()) {
            for (String call : List.of("pre", "file", "post")) {
                for (Path path : List.of(a, b, a.resolve("b/c/d"), a.resolve("b/c/d/file"))) {
                    same(a, at(call, path, answer));
                }
            }
            same(a, (call, path) -> answer);
        }
    }

    @Test
    void nullIsRefused() throws IOException {
        Path a = line();
        for (String call : List.of("pre", "file", "post")) {
            for (Path path : List.of(a, a.resolve("b"), a.resolve("b/c/d/file"))) {
                same(a, at(call, path, null));
            }
        }
        List<String> failed = same(tree.resolve("absent"), (call, path) -> null);
        assertEquals("java.lang.NullPointerException", failed.get(1));
        Recorder recorder = new Recorder(GO_ON);
        for (Walker walker : List.<Walker>of(Files::walkFileTree, Statwalk::walkFileTree)) {
            assertThrows(NullPointerException.class, () -> walker.walk(null, Set.of(), 1, recorder));
            assertThrows(NullPointerException.class, () -> walker.walk(a, null, 1, recorder));
            assertThrows(NullPointerException.class, () -> walker.walk(a, Set.of(), 1, null));
            Set<FileVisitOption> holdsNull = new java.util.HashSet<>();
            holdsNull.add(null);
            assertThrows(NullPointerException.class, () -> walker.walk(a, holdsNull, 1, recorder));
            assertThrows(IllegalArgumentException.class,
                    () -> walker.walk(a, Set.of(), -1, recorder));
        }
        assertEquals(List.of(), recorder.calls);
    }

    @Test
    void exceptionsOfTheVisitorComeOut() throws IOException {
        Path a = line();
        for (String call : List.of("pre", "file", "post")) {
            for (Path path : List.of(a, a.resolve("b/c"), a.resolve("b/c/d/file"))) {
                List<String> thrown = same(a, (its, of) -> {
                    if (its.equals(call) && of.equals(path)) {
                        throw new java.io.EOFException("mine");
                    }
                    return CONTINUE;
                });
                same(a, (its, of) -> {
                    if (its.equals(call) && of.equals(path)) {
                        throw new AssertionError("mine");
                    }
                    return CONTINUE;
                });
                assertNotEquals("another path", thrown.get(thrown.size() - 1));
            }
        }
        assertEquals("java.io.EOFException",
                same(tree.resolve("absent"), (call, path) -> {
                    throw new java.io.EOFException("mine");
                }).get(1));
    }

    @Test
    void theDepthEndsTheVisit() throws IOException {
        Path a = line();
        for (int depth = 0; depth < 7; depth++) {
            same(a, Set.of(), depth, GO_ON);
            same(a, FOLLOW, depth, GO_ON);
        }
    }

    @Test
    void linksAreFollowed() throws IOException {
        Path a = line();
        Path other = Files.createDirectories(tree.resolve("other/inside"));
        Files.createFile(other.resolve("x"));
        Files.createSymbolicLink(a.resolve("b/aside"), tree.resolve("other"));
        Files.createSymbolicLink(a.resolve("again"), Path.of("../other"));
        Files.createSymbolicLink(a.resolve("to_file"), Path.of("b/c/d/file"));
        Files.createSymbolicLink(a.resolve("nowhere"), Path.of("absent"));
        Files.createSymbolicLink(a.resolve("itself"), Path.of("itself"));
        same(a, GO_ON);
        List<String> followed = same(a, FOLLOW, Integer.MAX_VALUE, GO_ON);
        assertEquals(2, followed.stream()
                .filter(call -> call.startsWith("file") && call.contains("/inside/x ")).count());
        same(Files.createSymbolicLink(tree.resolve("start"), a), FOLLOW, Integer.MAX_VALUE, GO_ON);
        for (int depth = 1; depth < 6; depth++) {
            same(a, FOLLOW, depth, GO_ON);
        }
    }

    @Test
    void loopsAreFailures() throws IOException {
        Path a = line();
        Files.createSymbolicLink(a.resolve("b/c/up"), a);
        Files.createSymbolicLink(a.resolve("here"), Path.of("."));
        Files.createSymbolicLink(a.resolve("b/cross"), Path.of("../../a/b/c"));
        List<String> calls = same(a, FOLLOW, Integer.MAX_VALUE, GO_ON);
        assertTrue(calls.stream().anyMatch(call -> call.contains("FileSystemLoopException")));
        for (int depth = 1; depth < 6; depth++) {
            same(a, FOLLOW, depth, GO_ON);
        }
    }

    @Test
    void everyAnswerToALoopIsAsInTheJdk() throws IOException {
        Path start = Files.createDirectories(tree.resolve("a/b"));
        Files.createSymbolicLink(start.resolve("up"), Path.of("../.."));
        for (FileVisitResult answer : FileVisitResult.values()) {
            same(start, FOLLOW, Integer.MAX_VALUE,
                    (call, path) -> call.equals("failed") ? answer : CONTINUE);
            same(tree.resolve("a"), FOLLOW, Integer.MAX_VALUE,
                    (call, path) -> call.equals("failed") ? answer : CONTINUE);
        }
    }

    @Test
    void randomTreesAndNamesAreVisitedAlike() throws IOException {
        Trees.hostile(Files.createDirectory(tree.resolve("hostile")));
        List<String> hostile = same(tree.resolve("hostile"), GO_ON);
        assertEquals(2 + 18 * 2 + 18 * 18 + 1, hostile.size());
        for (long seed = 0; seed < 40; seed++) {
            Path root = Files.createDirectory(tree.resolve("random" + seed));
            Trees.random(root, seed);
            long salt = seed;
            Rule skips = (call, path) -> call.equals("pre")
                    && (path.hashCode() + salt) % 5 == 0 ? SKIP_SUBTREE : CONTINUE;
            same(root, GO_ON);
            same(root, skips);
            same(root, Set.of(), (int) (seed % 6), skips);
            same(root, FOLLOW, 6, GO_ON);
            same(root, FOLLOW, 6, skips);
        }
    }

    @Test
    void systemTreesAreVisitedAlike() throws IOException {
        Path headers = Path.of("/usr/include");
        Calm.check(headers, () -> same(headers, FOLLOW, Integer.MAX_VALUE, GO_ON));
        Rule skips = (call, path) ->
                call.equals("pre") && path.hashCode() % 3 == 0 ? SKIP_SUBTREE : CONTINUE;
        alike(Path.of("/usr"), Integer.MAX_VALUE, skips);
        alike(Path.of("/usr"), Integer.MAX_VALUE, GO_ON);
        // A terminal that comes and goes leaves no trace there, and others have trees in memory.
        Set<Path> busy = Set.of(Path.of("/dev/pts"), Path.of("/dev/shm"));
        alike(Path.of("/dev"), Integer.MAX_VALUE, (call, path) ->
                call.equals("pre") && busy.contains(path) ? SKIP_SUBTREE : CONTINUE);
        same(Path.of("/proc/self"), Set.of(), 1, (call, path) -> TERMINATE);
    }

    /** The order of siblings is free, so only the calls after the answer are compared. */
    @Test
    void noSiblingComesAfterSkipSiblings() throws IOException {
        for (int number = 0; number < 30; number++) {
            Files.createDirectories(tree.resolve("a/directory" + number + "/in"));
            Files.createFile(tree.resolve("a/file" + number));
        }
        for (String word : List.of("pre", "file")) {
            int[] seen = {0};
            Recorder own = new Recorder((call, path) ->
                    call.equals(word) && path.getParent().endsWith("a") && ++seen[0] == 7
                            ? SKIP_SIBLINGS : CONTINUE);
            Statwalk.walkFileTree(tree, own);
            assertEquals(7, seen[0]);
            List<String> last = own.calls.subList(own.calls.size() - 3, own.calls.size());
            assertTrue(last.get(0).startsWith(word.equals("pre") ? "notpre" : "file"), last::toString);
            assertEquals("post " + tree.resolve("a") + " -", last.get(1));
            assertEquals("post " + tree + " -", last.get(2));
        }
    }

    @Test
    void aVisitorMayDeleteWhatItVisits() throws IOException {
        for (long seed = 0; seed < 10; seed++) {
            Path root = Files.createDirectory(tree.resolve("random" + seed));
            Trees.random(root, seed);
            Statwalk.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path path, BasicFileAttributes of)
                        throws IOException {
                    Files.delete(path);
                    return CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path path, IOException failure)
                        throws IOException {
                    Files.delete(path);
                    return CONTINUE;
                }
            });
            assertFalse(Files.exists(root));
        }
    }

    @Test
    void noVisitGoesThroughALinkThatTookThePlaceOfADirectory() throws IOException {
        for (Walker walker : List.<Walker>of(
                Files::walkFileTree, Statwalk::walkFileTree, Visits.withScansAfter(0))) {
            Path root = Files.createTempDirectory(tree, "root");
            Path top = Files.createDirectory(root.resolve("top"));
            for (int number = 0; number < 24; number++) {
                Path in = top.resolve("d" + number / 4 + "/e" + number % 4);
                Files.createFile(Files.createDirectories(in).resolve("file"));
            }
            Recorder recorder = new Recorder((call, path) -> {
                if (call.equals("pre") && path.getParent().equals(top)) {
                    Path first = path.resolve("e0");
                    Path target = root.resolve(path.getFileName());
                    Files.move(first, target);
                    Files.createSymbolicLink(first, target);
                }
                return CONTINUE;
            });
            walker.walk(top, Set.of(), Integer.MAX_VALUE, recorder);
            assertEquals(18, recorder.calls.stream()
                    .filter(call -> call.startsWith("file") && call.contains("/file ")).count());
            assertEquals(6, recorder.calls.stream()
                    .filter(call -> call.startsWith("file") && call.contains("/e0 ")).count());
        }
    }

    /** The JDK lists a directory when its turn comes. What was read ahead can be of another one. */
    @Test
    void aDirectoryThatTookThePlaceOfAnotherIsListed() throws IOException {
        for (Set<FileVisitOption> options : List.of(Set.<FileVisitOption>of(), FOLLOW)) {
            for (boolean isLink : new boolean[] {false, true}) {
                List<List<String>> both = new ArrayList<>();
                Path root = tree.resolve("root");
                Path outside = tree.resolve("outside");
                for (Walker walker : List.<Walker>of(
                Files::walkFileTree, Statwalk::walkFileTree, Visits.withScansAfter(0))) {
                    for (int number = 0; number < 12; number++) {
                        Path in = root.resolve("d" + number / 4 + "/e" + number % 4);
                        Files.createFile(Files.createDirectories(in.resolve("x/y")).resolve("old"));
                        Path other = outside.resolve("d" + number / 4 + "/x/z");
                        Files.createDirectories(other);
                        Files.write(other.resolve("new"), new byte[number / 4]);
                    }
                    Recorder recorder = new Recorder((call, path) -> {
                        Path target = outside.resolve(path.getFileName());
                        if (call.equals("pre") && path.getParent().equals(root)) {
                            Path first = path.resolve("e0");
                            Files.move(first, outside.resolve("was" + path.getFileName()));
                            if (isLink) {
                                Files.createSymbolicLink(first, target);
                            } else {
                                Files.move(target, first);
                            }
                        }
                        return CONTINUE;
                    });
                    walker.walk(root, options, Integer.MAX_VALUE, recorder);
                    both.add(Visits.sorted(recorder.calls.stream()
                            .map(call -> call.replaceAll(" (true|false).*", "")).toList()));
                    for (Path done : List.of(root, outside)) {
                        Statwalk.walkFileTree(done, new Deleting());
                    }
                }
                assertEquals(both.get(0), both.get(1));
                assertEquals(isLink && options.isEmpty() ? 0 : 3,
                        both.get(1).stream().filter(call -> call.endsWith("/new")).count());
            }
        }
    }

    /** Removes what it visits. */
    private static final class Deleting extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path path, BasicFileAttributes of) throws IOException {
            Files.delete(path);
            return CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path path, IOException failure)
                throws IOException {
            Files.delete(path);
            return CONTINUE;
        }
    }

    /** A visitor that counts each file once, by its key, needs one kind of key. */
    @Test
    void aFileHasOneKeyInAVisit() throws IOException {
        Path root = line();
        Path file = root.resolve("b/c/d/file");
        Files.createSymbolicLink(root.resolve("to_file"), file);
        Files.createSymbolicLink(root.resolve("nowhere"), Path.of("absent"));
        Files.createLink(root.resolve("same"), file);
        Path outside = Files.createDirectory(tree.resolve("outside"));
        Files.createSymbolicLink(root.resolve("to_outside"), outside);
        Files.createSymbolicLink(outside.resolve("back"), file);
        List<Set<List<String>>> groups = new ArrayList<>();
        for (Walker walker : List.<Walker>of(
                Files::walkFileTree, Statwalk::walkFileTree, Visits.withScansAfter(0))) {
            Map<Object, List<String>> byKey = new HashMap<>();
            walker.walk(root, FOLLOW, Integer.MAX_VALUE, new SimpleFileVisitor<>() {
                private FileVisitResult note(Path path, BasicFileAttributes of) {
                    byKey.computeIfAbsent(of.fileKey(), key -> new ArrayList<>())
                            .add(path.toString());
                    return CONTINUE;
                }

                @Override
                public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes of) {
                    return note(path, of);
                }

                @Override
                public FileVisitResult visitFile(Path path, BasicFileAttributes of) {
                    return note(path, of);
                }
            });
            byKey.values().forEach(Collections::sort);
            groups.add(Set.copyOf(byKey.values()));
        }
        assertEquals(groups.get(0), groups.get(1));
        assertTrue(groups.get(1).stream().anyMatch(names -> names.size() == 4));
    }

    /** Reading a directory changes its time of access, if it belongs to somebody else. */
    @Test
    void whatIsSkippedIsNotRead() throws Exception {
        assumeTrue(Java.isRoot(), "needs root");
        Java.run("chmod", "755", tree.toString());
        Path wanted = Files.createDirectories(tree.resolve("wanted/in"));
        for (FileVisitResult answer : List.of(SKIP_SUBTREE, SKIP_SIBLINGS, TERMINATE)) {
            for (String scansAfter : List.of("0", "1000")) {
                List<Path> skipped = new ArrayList<>();
                for (int number = 0; number < 20; number++) {
                    Path top = tree.resolve("skipped" + number);
                    Files.createDirectories(top.resolve("in/deep"));
                    skipped.addAll(List.of(top, top.resolve("in"), top.resolve("in/deep")));
                }
                Trees.forgetAccess(skipped);
                Trees.forgetAccess(List.of(wanted));
                assertEquals("", Java.ofOrdinaryUser(Skipping.class, tree, answer.toString(),
                        scansAfter));
                if (answer == SKIP_SUBTREE) {
                    assumeTrue(Trees.read(List.of(wanted)) == 1, "needs times of access");
                }
                // A sibling can have been read together with the directory that was wanted.
                assertTrue(Trees.read(skipped) <= 4, () -> answer + " " + scansAfter);
            }
        }
    }

    /** The JDK says nothing of it either. */
    @Test
    void aDirectoryThatChangesIsNoFailure() throws Exception {
        Path busy = Files.createDirectories(tree.resolve("busy"));
        for (int number = 0; number < 300; number++) {
            Files.createFile(busy.resolve("file" + number));
        }
        AtomicBoolean isOver = new AtomicBoolean();
        Thread changer = new Thread(() -> {
            for (int number = 0; !isOver.get(); number++) {
                Path path = busy.resolve("new" + number % 50);
                try {
                    Files.createFile(path);
                    Files.delete(path);
                } catch (IOException failure) {
                    throw new AssertionError(failure);
                }
            }
        });
        changer.start();
        try {
            for (int turn = 0; turn < 100; turn++) {
                Recorder recorder = new Recorder(GO_ON);
                Statwalk.walkFileTree(busy, recorder);
                List<String> calls = recorder.calls;
                assertEquals(300, calls.stream()
                        .filter(call -> call.startsWith("file " + busy.resolve("file"))).count());
                // A name can have gone away before its attributes were read.
                assertTrue(calls.stream().filter(call -> call.startsWith("failed"))
                        .allMatch(call -> call.startsWith("failed " + busy.resolve("new"))
                                && call.contains(" NoSuchFileException ")));
                assertEquals("post " + busy + " -", calls.get(calls.size() - 1));
            }
        } finally {
            isOver.set(true);
            changer.join();
        }
    }

    @Test
    void otherFileSystemsAreRefused() {
        Path other = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        Recorder recorder = new Recorder(GO_ON);
        String words = assertThrows(ProviderMismatchException.class,
                () -> Statwalk.walkFileTree(other, recorder)).getMessage();
        assertEquals("statwalk reads the default file system, not jrt:", words);
        assertThrows(ProviderMismatchException.class, () -> Statwalk.walk(other));
        assertThrows(ProviderMismatchException.class, () -> Statwalk.list(other));
    }

    @Test
    void unreadableDirectoriesAreFailures() throws Exception {
        Path closed = Files.createDirectories(tree.resolve("closed"));
        Path alone = Files.createDirectories(tree.resolve("alone/closed"));
        // Names can be listed, and nothing else.
        Path names = Files.createDirectories(tree.resolve("names"));
        Files.createDirectory(names.resolve("directory"));
        Files.createFile(names.resolve("file"));
        Java.run("chmod", "755", tree.toString());
        Java.run("chmod", "0", closed.toString(), alone.toString());
        Java.run("chmod", "444", names.toString());
        String output = Java.ofOrdinaryUser(Closed.class, tree);
        Java.run("chmod", "755", closed.toString(), alone.toString(), names.toString());
        String expected = Stream.of(alone, closed, names.resolve("directory"), names.resolve("file"))
                .map(path -> "failed " + path + " AccessDeniedException " + path + "\n")
                .reduce("", String::concat);
        assertEquals(expected, output);
    }
}
