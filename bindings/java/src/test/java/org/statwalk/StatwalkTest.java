// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Beside the walkers of the JDK. */
class StatwalkTest {
    @TempDir
    Path tree;

    @BeforeEach
    void make() throws Exception {
        Files.createDirectories(tree.resolve("a/b/c"));
        Files.createDirectory(tree.resolve("empty"));
        for (int i = 0; i < 40; i++) {
            Files.write(tree.resolve("a/file" + i), new byte[i]);
        }
        Files.write(tree.resolve("a/b/" + "n".repeat(255)), new byte[1]);
        Files.createSymbolicLink(tree.resolve("link"), Path.of("a/file7"));
        Files.createSymbolicLink(tree.resolve("dangling"), Path.of("nowhere"));
        Files.createSymbolicLink(tree.resolve("to_directory"), Path.of("a"));
        Files.createLink(tree.resolve("a/b/second"), tree.resolve("a/file9"));
        run("mkfifo", tree.resolve("fifo").toString());
        run("touch", "-d", "1960-01-01 00:00:00.123456789", tree.resolve("a/file1").toString());
    }

    private static void run(String... command) throws Exception {
        Java.run(command);
    }

    static void check(Path root) throws IOException {
        Map<Path, PosixFileAttributes> expected = new TreeMap<>();
        // The first reading of a directory can change its time of access.
        for (int turn = 0; turn < 2; turn++) {
            try (Stream<Path> paths = Files.walk(root)) {
                for (Path path : (Iterable<Path>) paths.filter(p -> !p.equals(root))::iterator) {
                    expected.put(path, Files.readAttributes(
                            path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS));
                }
            }
        }
        Map<Object, Object> keys = new TreeMap<>((a, b) -> a.toString().compareTo(b.toString()));
        try (Stream<AttributedPath> found = Statwalk.walk(root)) {
            found.forEach(entry -> {
                PosixFileAttributes other = expected.remove(entry.path());
                PosixFileAttributes own = entry.attributes();
                String path = entry.toString();
                assertTrue(other != null, path);
                assertEquals(other.size(), own.size(), path);
                assertEquals(other.lastModifiedTime(), own.lastModifiedTime(), path);
                assertEquals(other.creationTime(), own.creationTime(), path);
                assertEquals(other.permissions(), own.permissions(), path);
                assertEquals(other.owner(), own.owner(), path);
                assertEquals(other.owner().getName(), own.owner().getName(), path);
                assertEquals(other.group(), own.group(), path);
                assertEquals(other.isDirectory(), own.isDirectory(), path);
                assertEquals(other.isRegularFile(), own.isRegularFile(), path);
                assertEquals(other.isSymbolicLink(), own.isSymbolicLink(), path);
                assertEquals(other.isOther(), own.isOther(), path);
                // Both keys name the same files as the same.
                Object before = keys.putIfAbsent(own.fileKey(), other.fileKey());
                assertTrue(before == null || before.equals(other.fileKey()), path);
                assertEquals(entry.path().getFileName().toString(), entry.name());
            });
        }
        assertEquals(Map.of(), expected);
    }

    @Test
    void entriesAreThoseOfTheJdk() throws IOException {
        check(tree);
        Path headers = Path.of("/usr/include");
        Calm.check(headers, () -> check(headers));
    }

    @Test
    void oneDirectory() throws IOException {
        Set<Path> expected = new HashSet<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(tree)) {
            stream.forEach(expected::add);
        }
        Set<Path> found = new HashSet<>();
        try (DirectoryStream<AttributedPath> stream = Statwalk.list(tree)) {
            stream.forEach(entry -> found.add(entry.path()));
            assertThrows(IllegalStateException.class, stream::iterator);
        }
        assertEquals(expected, found);
        try (DirectoryStream<AttributedPath> stream = Statwalk.list(tree.resolve("to_directory"))) {
            int count = 0;
            for (AttributedPath entry : stream) {
                assertTrue(entry.path().startsWith(tree.resolve("to_directory")));
                count++;
            }
            assertEquals(41, count);
        }
    }

    @Test
    void pathsThatCannotBeScanned() {
        assertThrows(NoSuchFileException.class, () -> Statwalk.walk(tree.resolve("absent")));
        assertThrows(NotDirectoryException.class, () -> Statwalk.list(tree.resolve("link")));
    }

    @Test
    void hostileNamesLeadToTheirFiles() throws Exception {
        Path odd = Files.createDirectory(tree.resolve("odd"));
        run("sh", "-c", "touch \"$(printf '%s/x\\377' \"$1\")\"", "sh", odd.toString());
        try (DirectoryStream<AttributedPath> stream = Statwalk.list(odd)) {
            AttributedPath entry = stream.iterator().next();
            assertArrayEquals(new byte[] {'x', (byte) 0xff}, entry.nameBytes());
            assertEquals("x\ufffd", entry.name());
            assertTrue(Files.exists(entry.path()));
            assertArrayEquals(entry.pathBytes(), PathBytes.of(entry.path()));
            assertEquals(0, entry.attributes().size());
        }
        Trees.hostile(odd);
        Set<Path> expected = new HashSet<>();
        Set<Path> found = new HashSet<>();
        try (Stream<Path> jdk = Files.walk(odd);
                Stream<AttributedPath> own = Statwalk.walk(odd)) {
            jdk.filter(path -> !path.equals(odd)).forEach(expected::add);
            own.forEach(entry -> found.add(entry.path()));
        }
        assertEquals(expected, found);
        for (Path path : expected) {
            if (!Files.isDirectory(path)) {
                continue;
            }
            try (DirectoryStream<AttributedPath> below = Statwalk.list(path)) {
                below.forEach(entry -> assertEquals(path, entry.path().getParent()));
            }
        }
        // So do those of relative paths.
        byte[] relative = {'a', '/', (byte) 0xff, '%'};
        Path path = PathBytes.path(relative);
        assertFalse(path.isAbsolute());
        assertArrayEquals(relative, PathBytes.of(path));
    }

    @Test
    void parallelStreamsHaveTheSameEntries() throws IOException {
        Path root = Path.of("/usr/include");
        try (Stream<AttributedPath> one = Statwalk.walk(root);
                Stream<AttributedPath> many = Statwalk.walk(root).parallel()) {
            Set<String> expected = one.map(AttributedPath::toString).collect(Collectors.toSet());
            assertEquals(expected, many.map(AttributedPath::toString).collect(Collectors.toSet()));
        }
    }

    /** A number of entries that is too small would be taken for the number of all. */
    @Test
    void aStreamThatIsClosedBeforeItsEndSaysSo() throws Exception {
        Path usr = Path.of("/usr");
        Stream<AttributedPath> stream = Statwalk.walk(usr);
        var entries = stream.iterator();
        entries.next();
        stream.close();
        assertThrows(IllegalStateException.class, () -> {
            while (entries.hasNext()) {
                entries.next();
            }
        });
        ScanOptions silent = ScanOptions.DEFAULT.withOnError(error -> {});
        for (int turn = 0; turn < 40; turn++) {
            boolean isParallel = turn % 2 == 1;
            Stream<AttributedPath> begun = Statwalk.walk(usr, turn % 4 < 2 ? silent
                    : ScanOptions.DEFAULT);
            Stream<AttributedPath> of = isParallel ? begun.parallel() : begun;
            long[] seen = {0};
            Thread closer = new Thread(begun::close);
            assertThrows(IllegalStateException.class, () -> of.forEach(entry -> {
                synchronized (seen) {
                    if (seen[0]++ == 100) {
                        closer.start();
                    } else if (seen[0] > 100) {
                        join(closer);
                    }
                }
            }));
        }
        // Closed at its end, it is whole.
        Stream<AttributedPath> whole = Statwalk.walk(tree);
        long count = whole.count();
        whole.close();
        assertEquals(count, Statwalk.walk(tree).count());
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    /** By the contract of {@code DirectoryStream}, whose iterator ends where it is closed. */
    @Test
    void aClosedDirectoryStreamHasNoIterator() throws IOException {
        DirectoryStream<AttributedPath> stream = Statwalk.list(tree);
        var entries = stream.iterator();
        entries.next();
        stream.close();
        for (int count = 0; entries.hasNext(); count++) {
            entries.next();
            assertTrue(count < 1);
        }
        DirectoryStream<AttributedPath> closed = Statwalk.list(tree);
        closed.close();
        closed.close();
        assertThrows(IllegalStateException.class, closed::iterator);
    }

    @Test
    void anEmptyPathGetsNoDot() throws IOException {
        Path here = Path.of("");
        Set<Path> expected = new HashSet<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(here)) {
            stream.forEach(expected::add);
        }
        Set<Path> found = new HashSet<>();
        try (DirectoryStream<AttributedPath> stream = Statwalk.list(here)) {
            stream.forEach(entry -> {
                found.add(entry.path());
                assertArrayEquals(entry.nameBytes(), entry.pathBytes());
                assertEquals(entry.name(), entry.toString());
            });
        }
        assertEquals(expected, found);
        Path sources = Path.of("src");
        try (Stream<Path> jdk = Files.walk(sources).filter(path -> !path.equals(sources));
                Stream<AttributedPath> own = Statwalk.walk(here)) {
            assertEquals(jdk.collect(Collectors.toSet()), own.map(AttributedPath::path)
                    .filter(path -> path.startsWith(sources) && !path.equals(sources))
                    .collect(Collectors.toSet()));
        }
        assertEquals("./src", Statwalk.walk(Path.of("."), ScanOptions.DEFAULT.withMaxDepth(1))
                .map(AttributedPath::toString).filter(path -> path.endsWith("src"))
                .collect(Collectors.joining()));
    }

    /** A scan leaves the root of another file system out, and then the JDK is asked. */
    @Test
    void attributesOfWhatIsLeftOutAreAsked() throws IOException {
        ScanOptions shallow = ScanOptions.DEFAULT.withMaxDepth(1);
        for (ScanOptions options : List.of(shallow, shallow.withOneFileSystem(),
                shallow.withFollowLinks().withOneFileSystem())) {
            int count = 0;
            try (Stream<AttributedPath> entries = Statwalk.walk(Path.of("/"), options)) {
                for (AttributedPath entry : (Iterable<AttributedPath>) entries::iterator) {
                    PosixFileAttributes own = entry.attributes();
                    assertTrue(entry.hasAttributes());
                    LinkOption[] how = own.isSymbolicLink() || options == shallow
                            ? new LinkOption[] {LinkOption.NOFOLLOW_LINKS} : new LinkOption[0];
                    PosixFileAttributes jdk = Files.readAttributes(
                            entry.path(), PosixFileAttributes.class, how);
                    assertEquals(jdk.isDirectory(), own.isDirectory(), entry::toString);
                    assertEquals(jdk.isRegularFile(), own.isRegularFile(), entry::toString);
                    assertEquals(jdk.isOther(), own.isOther(), entry::toString);
                    assertEquals(jdk.permissions(), own.permissions(), entry::toString);
                    assertEquals(jdk.owner(), own.owner(), entry::toString);
                    assertEquals(jdk.group(), own.group(), entry::toString);
                    assertEquals(jdk.creationTime(), own.creationTime(), entry::toString);
                    count += entry.name().equals("proc") ? 1 : 0;
                }
            }
            assertEquals(1, count);
        }
    }

    @Test
    void refusedAttributesAreAnExceptionOfTheEntry() throws Exception {
        Path listable = Files.createDirectory(tree.resolve("listable"));
        Files.createFile(listable.resolve("file"));
        Path closed = Files.createDirectory(tree.resolve("shut"));
        long sum = 0;
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                var of = Files.readAttributes(
                        path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                sum += of.isDirectory() ? 0 : of.size();
            }
        }
        run("chmod", "755", tree.toString());
        run("chmod", "444", listable.toString());
        run("chmod", "0", closed.toString());
        String output = Java.ofOrdinaryUser(Refused.class, tree);
        run("chmod", "755", listable.toString(), closed.toString());
        String words = "AccessDeniedException TREE/listable/file\n";
        assertEquals(Stream.of("error " + words, "file false\n" + words,
                "IncompleteScanException the scan is incomplete, with 1 error: "
                + "AccessDeniedException: TREE/listable/file\n", "cause " + words,
                "sum " + sum, "error " + words, "error AccessDeniedException TREE/shut",
                "AccessDeniedException TREE/shut\n", "AccessDeniedException TREE/shut\n",
                "AccessDeniedException TREE/shut/below\n").flatMap(String::lines).sorted().toList(),
                output.lines().sorted().toList());
    }

    private static long tasks() throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            return tasks.count();
        }
    }

    @Test
    void aThousandScansLeaveNothingBehind() throws Exception {
        long before = 0;
        long threads = 0;
        for (int turn = 0; turn < 1000; turn++) {
            if (turn == 200) {
                before = files();
                threads = tasks();
            }
            Stream<AttributedPath> stream = Statwalk.walk(tree);
            switch (turn % 3) {
                case 0 -> stream.close();
                case 1 -> {
                    stream.iterator().next();
                    stream.close();
                }
                // Forgotten: read to the end, it has ended.
                default -> stream.count();
            }
        }
        for (int wait = 0;
                wait < 3000 && (tasks() > threads + 8 || files() > before + 1); wait++) {
            Thread.sleep(20);
        }
        assertTrue(files() <= before + 1);
        assertTrue(tasks() <= threads + 8);
    }

    @Test
    void forgottenStreamsEnd() throws Exception {
        try (Stream<AttributedPath> first = Statwalk.walk(tree)) {
            first.count();
        }
        long files = files();
        long threads = tasks();
        // The collector must not take them before all have begun.
        List<Object> begun = new ArrayList<>();
        for (int turn = 0; turn < 20; turn++) {
            begun.add(begun());
        }
        assertTrue(tasks() > threads + 8);
        begun.clear();
        for (int wait = 0; wait < 3000 && (tasks() > threads + 8 || files() > files + 1); wait++) {
            System.gc();
            Thread.sleep(20);
        }
        assertTrue(tasks() <= threads + 8, () -> "threads are left");
        assertTrue(files() <= files + 1, () -> "files are open");
    }

    private static Object begun() throws IOException {
        var entries = Statwalk.walk(Path.of("/usr")).iterator();
        entries.next();
        return entries;
    }

    private static long files() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    @Test
    void errorsAreGivenAndTheEndSaysSo() throws Exception {
        // A directory that goes away while the scan waits for nobody cannot be made on demand,
        // and root may read everything: an ordinary user asks in a process of its own.
        Path closed = tree.resolve("closed");
        Files.createDirectory(closed);
        run("chmod", "0", closed.toString());
        run("chmod", "755", tree.toString());
        String output = Java.ofOrdinaryUser(Unreadable.class, tree);
        run("chmod", "755", closed.toString());
        String error = "AccessDeniedException " + closed + "\n";
        // The third has pruned it: then nothing is missing. The fourth has pruned others.
        assertEquals("incomplete 1 " + error + error + "complete\n"
                + "after " + error + "true\n", output);
    }

    private static void prunesAsANaiveWalker(Path root, Predicate<String> isPruned)
            throws IOException {
        Set<Path> expected = new HashSet<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes of) {
                expected.add(path);
                return !path.equals(root) && isPruned.test(path.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path path, BasicFileAttributes of) {
                expected.add(path);
                return FileVisitResult.CONTINUE;
            }
        });
        expected.remove(root);
        Set<Path> found = new HashSet<>();
        Set<Path> asked = new HashSet<>();
        ScanOptions options = ScanOptions.DEFAULT.withPrune(directory -> {
            assertTrue(directory.attributes().isDirectory());
            assertTrue(asked.add(directory.path()), directory::toString);
            return isPruned.test(directory.name());
        });
        try (Stream<AttributedPath> entries = Statwalk.walk(root, options)) {
            entries.forEach(entry -> assertTrue(found.add(entry.path()), entry::toString));
        }
        assertEquals(expected, found);
        // It is asked for each directory that is an entry, and for no other.
        assertEquals(expected.stream()
                .filter(path -> Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                .collect(Collectors.toSet()), asked);
    }

    @Test
    void prunedDirectoriesAreLeftOut() throws IOException {
        prunesAsANaiveWalker(tree, name -> name.equals("b"));
        prunesAsANaiveWalker(tree, name -> true);
        prunesAsANaiveWalker(tree, name -> false);
        for (long seed = 0; seed < 60; seed++) {
            Path root = Files.createDirectory(tree.resolve("random" + seed));
            Trees.random(root, seed);
            long salt = seed;
            prunesAsANaiveWalker(root, name -> (name.hashCode() + salt) % 4 == 0);
        }
        Path usr = Path.of("/usr/");
        Calm.check(usr, () -> prunesAsANaiveWalker(usr, name -> name.hashCode() % 3 == 0));
        Calm.check(usr, () -> prunesAsANaiveWalker(
                usr, name -> name.equals("share") || name.equals("lib")));
    }

    /** Reading a directory changes its time of access, if it belongs to somebody else. */
    @Test
    void whatIsPrunedIsNotRead() throws Exception {
        assumeTrue(Java.isRoot(), "needs root");
        run("chmod", "755", tree.toString());
        Path root = Files.createDirectory(tree.resolve("many"));
        List<Path> pruned = new ArrayList<>();
        for (int number = 0; number < 3_000; number++) {
            pruned.add(Files.createDirectories(root.resolve("skipped/" + number)));
        }
        List<Path> wanted = List.of(Files.createDirectory(root.resolve("wanted")));
        // A worker can have read all of it before the predicate is asked.
        for (int turn = 0; turn < 20; turn++) {
            Trees.forgetAccess(pruned);
            Trees.forgetAccess(wanted);
            assertEquals("", Java.ofOrdinaryUser(Skipping.class, root, "prune"));
            assumeTrue(Trees.read(wanted) == 1, "needs times of access");
            if (Trees.read(pruned) < pruned.size()) {
                return;
            }
        }
        fail("everything was read each time");
    }

    @Test
    void anEarlierJavaSaysWhatItNeeds() {
        // The base class, as JDK 17 takes it from the jar.
        Path java17 = Path.of("/usr/lib/jvm/java-17-openjdk-amd64/bin/java");
        assumeTrue(Files.exists(java17), "needs JDK 17");
        String jar = Statwalk.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        String test = StatwalkTest.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        try {
            Process process = new ProcessBuilder(java17.toString(), "-cp", jar + ":" + test,
                    Unreadable.class.getName(), "/usr/include").redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes());
            assertTrue(output.contains("needs Java 22 or newer"), output);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
