// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.FileVisitor;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
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
        assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor());
    }

    private static void check(Path root) throws IOException {
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
        check(Path.of("/usr/include"));
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
    void aNameThatIsNoText() throws Exception {
        Path odd = tree.resolve("odd");
        Files.createDirectory(odd);
        run("sh", "-c", "touch \"$(printf '%s/x\\377' \"$1\")\"", "sh", odd.toString());
        try (DirectoryStream<AttributedPath> stream = Statwalk.list(odd)) {
            AttributedPath entry = stream.iterator().next();
            assertArrayEquals(new byte[] {'x', (byte) 0xff}, entry.nameBytes());
            assertEquals("x\ufffd", entry.name());
            UndecodablePathException thrown =
                    assertThrows(UndecodablePathException.class, entry::path);
            assertArrayEquals(entry.pathBytes(), thrown.pathBytes());
            assertEquals(0, entry.attributes().size());
        }
        run("rm", "-r", odd.toString());
        // A name that has the character which stands for no text.
        Path honest = Files.createFile(tree.resolve("x\ufffd"));
        try (Stream<AttributedPath> stream = Statwalk.walk(tree)) {
            assertTrue(stream.anyMatch(entry -> entry.path().equals(honest)));
        }
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

    @Test
    void aClosedStreamEnds() throws IOException {
        Stream<AttributedPath> stream = Statwalk.walk(Path.of("/usr"));
        var entries = stream.iterator();
        entries.next();
        stream.close();
        int count = 0;
        while (entries.hasNext()) {
            entries.next();
            count++;
        }
        // Those of the batch that was at hand.
        assertTrue(count <= 2 * 65_536);
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
        assertTrue(files() <= before + 1);
        for (int wait = 0; wait < 100 && tasks() > threads + 8; wait++) {
            Thread.sleep(20);
        }
        assertTrue(tasks() <= threads + 8);
    }

    private static long files() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    /** The calls of a visitor, and its answers by a rule. */
    private static final class Recorder implements FileVisitor<Path> {
        final List<String> calls = new ArrayList<>();
        final Map<String, FileVisitResult> answers;

        Recorder(Map<String, FileVisitResult> answers) {
            this.answers = answers;
        }

        private FileVisitResult note(String call, Path path) {
            calls.add(call + " " + path);
            String key = call + " " + (path.getFileName() == null ? "" : path.getFileName());
            return answers.getOrDefault(key, FileVisitResult.CONTINUE);
        }

        @Override
        public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
            assertTrue(attributes.isDirectory());
            return note("pre", path);
        }

        @Override
        public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
            return note("file", path);
        }

        @Override
        public FileVisitResult visitFileFailed(Path path, IOException failure) {
            return note("failed", path);
        }

        @Override
        public FileVisitResult postVisitDirectory(Path path, IOException failure) {
            assertNull(failure);
            return note("post", path);
        }
    }

    private static void visitsAreEqual(Path start, Map<String, FileVisitResult> answers)
            throws IOException {
        Recorder own = new Recorder(answers);
        Recorder jdk = new Recorder(answers);
        assertEquals(start, Statwalk.walkFileTree(start, own));
        Files.walkFileTree(start, jdk);
        // The order of siblings is not promised.
        assertEquals(new TreeSet<>(jdk.calls), new TreeSet<>(own.calls));
        assertEquals(jdk.calls.size(), own.calls.size());
        nested(own.calls);
    }

    /** Each directory is closed before its siblings and after all below it. */
    private static void nested(List<String> calls) {
        List<String> open = new ArrayList<>();
        for (String call : calls) {
            String path = call.substring(call.indexOf(' ') + 1);
            if (call.startsWith("pre ")) {
                open.add(path);
            } else if (call.startsWith("post ")) {
                assertEquals(open.remove(open.size() - 1), path);
            } else if (!open.isEmpty()) {
                assertTrue(path.startsWith(open.get(open.size() - 1)), call);
            }
        }
    }

    @Test
    void visitsAreThoseOfTheJdk() throws IOException {
        visitsAreEqual(tree, Map.of());
        visitsAreEqual(Path.of("/usr/include"), Map.of());
        visitsAreEqual(tree.resolve("absent"), Map.of());
        visitsAreEqual(tree.resolve("link"), Map.of());
        visitsAreEqual(tree.resolve("a/b"), Map.of());
        FileVisitResult subtree = FileVisitResult.SKIP_SUBTREE;
        // Which of b's siblings were seen before b depends on the order: so none is told.
        Recorder skips = new Recorder(Map.of("pre b", subtree));
        Statwalk.walkFileTree(tree, skips);
        assertTrue(skips.calls.stream().noneMatch(call -> call.endsWith("/second")));
        assertTrue(skips.calls.contains("post " + tree.resolve("a")));
        assertTrue(skips.calls.stream().noneMatch(call -> call.equals("post " + tree.resolve("a/b"))));
        Recorder ends = new Recorder(Map.of("pre a", FileVisitResult.TERMINATE));
        Statwalk.walkFileTree(tree, ends);
        assertTrue(ends.calls.get(ends.calls.size() - 1).equals("pre " + tree.resolve("a")));
        Recorder siblings = new Recorder(Map.of("file second", FileVisitResult.SKIP_SIBLINGS));
        Statwalk.walkFileTree(tree.resolve("a/b"), siblings);
        assertTrue(siblings.calls.contains("post " + tree.resolve("a/b")));
        String last = siblings.calls.get(siblings.calls.indexOf("file " + tree.resolve("a/b/second")) + 1);
        assertEquals("post " + tree.resolve("a/b"), last);
    }

    @Test
    void errorsAreGivenAndTheEndSaysSo() throws Exception {
        // A directory that goes away while the scan waits for nobody cannot be made on demand,
        // and root may read everything: an ordinary user asks in a process of its own.
        Path closed = tree.resolve("closed");
        Files.createDirectory(closed);
        run("chmod", "0", closed.toString());
        run("chmod", "755", tree.toString());
        String java = Path.of(System.getProperty("java.home"), "bin/java").toString();
        List<String> command = new ArrayList<>();
        if ("root".equals(System.getProperty("user.name"))) {
            command.addAll(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
        }
        Path classes = Files.createTempDirectory("statwalk-java");
        StringBuilder path = new StringBuilder();
        for (Class<?> of : List.of(Statwalk.class, StatwalkTest.class)) {
            Path from = Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI());
            run("cp", "-r", from.toString(), classes.toString());
            path.append(classes.resolve(from.getFileName())).append(':');
        }
        run("chmod", "-R", "a+rX", classes.toString());
        command.addAll(List.of(java, "--enable-native-access=ALL-UNNAMED", "-cp", path.toString(),
                Unreadable.class.getName(), tree.toString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        run("chmod", "755", closed.toString());
        run("rm", "-r", classes.toString());
        String error = "open 13 " + closed + "\n";
        assertEquals("incomplete 1 " + error + error + "failed " + closed + "\n", output);
    }

    @Test
    void anEarlierJavaSaysWhatItNeeds() {
        // The base class, as JDK 17 takes it from the jar.
        Path java17 = Path.of("/usr/lib/jvm/java-17-openjdk-amd64/bin/java");
        org.junit.jupiter.api.Assumptions.assumeTrue(Files.exists(java17), "needs JDK 17");
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
