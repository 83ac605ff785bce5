// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import outside.Program;

/** How the library comes into a JVM, and what a JVM says that does not take it. */
class LoadingTest {
    private static final String GRANT = "--enable-native-access=ALL-UNNAMED";
    private static final String DENY = "--illegal-native-access=deny";
    private static final String MAIN = Program.class.getName();

    @TempDir
    Path tree;

    @BeforeEach
    void make() throws IOException {
        Files.createFile(tree.resolve("one"));
    }

    private String onClassPath(String... options) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of("-cp", Java.classPath(), MAIN, "count", tree.toString()));
        return Java.output(List.of(), arguments);
    }

    private String onModulePath(String access) throws IOException {
        return Java.output(access, DENY, "-p", Java.JAR.toString(), "--add-modules", "org.statwalk",
                "-cp", Java.TESTS.toString(), MAIN, "count", tree.toString());
    }

    /** {@code --illegal-native-access} is of JDK 24. */
    private static void needsDenial() {
        assumeTrue(Runtime.version().feature() >= 24, "needs JDK 24");
    }

    @Test
    void nativeAccessIsForTheModuleOrTheClassPath() throws IOException {
        needsDenial();
        assertEquals("count 1 in null\n", onClassPath(GRANT, DENY));
        assertEquals("count 1 in org.statwalk\n",
                onModulePath("--enable-native-access=org.statwalk"));
        String sentence = "this JVM forbids native code: start it with"
                + " --enable-native-access=ALL-UNNAMED, or =org.statwalk on the module path\n";
        assertEquals(sentence, onClassPath(DENY));
        assertEquals(sentence, onModulePath(GRANT));
    }

    @Test
    void aLibraryIsNamed() throws IOException {
        String option = "-Dstatwalk.library=";
        String absent = onClassPath(GRANT, option + tree.resolve("absent.so"));
        assertTrue(absent.startsWith("cannot load the library that -Dstatwalk.library names: "
                + "Cannot open library"), absent);
        assertTrue(absent.contains("absent.so"), absent);
        String text = onClassPath(GRANT, option + tree.resolve("one"));
        assertTrue(text.contains("cannot load the library that"), text);
        Path other = Path.of(System.getProperty("java.home"), "lib/libjimage.so");
        assertEquals(other + " is not libstatwalk\n", onClassPath(GRANT, option + other));
    }

    @Test
    void aTemporaryFolderCanForbidExecution() throws Exception {
        theSecondFolderIsTaken("noexec");
    }

    @Test
    void aTemporaryFolderCanBeFull() throws Exception {
        theSecondFolderIsTaken("size=64k");
    }

    /** Where the temporary folder is a file system with a mount option that refuses the library. */
    private void theSecondFolderIsTaken(String option) throws Exception {
        Path folder = Files.createDirectory(tree.resolve("folder"));
        String[] mount = {"unshare", "-m", "sh", "-c",
            "mount -t tmpfs -o " + option + " none \"$0\" && exec \"$@\"", folder.toString()};
        Process check = new ProcessBuilder(mount).command(
                "unshare", "-m", "mount", "-t", "tmpfs", "-o", option, "none", folder.toString())
                .start();
        assumeTrue(check.waitFor() == 0, "needs to mount");
        Files.delete(tree.resolve("one"));
        Path home = Files.createDirectories(tree.resolve("home"));
        List<String> program = new ArrayList<>(List.of(
                GRANT, "-Djava.io.tmpdir=" + folder, "-cp", Java.classPath(), "-Duser.home=" + home,
                MAIN, "count", folder.toString()));
        assertEquals("count 0 in null\n", Java.output(List.of(mount), program));
        program.set(4, "-Duser.home=" + folder);
        String neither = Java.output(List.of(mount), program);
        assertTrue(neither.startsWith("cannot load libstatwalk: " + folder + ": "), neither);
        assertTrue(neither.contains("; " + folder + "/.cache: "), neither);
        assertTrue(neither.endsWith("; name one by -Dstatwalk.library=PATH\n"), neither);
        // No copy stays.
        try (var left = Files.list(home.resolve(".cache"))) {
            assertEquals(0, left.count());
        }
    }

    /** The classes of the jar, without its manifest. */
    private Path unpacked() throws IOException {
        Path folder = Files.createDirectory(tree.resolve("unpacked"));
        try (ZipFile jar = new ZipFile(Java.JAR.toFile())) {
            for (var entry : Collections.list(jar.entries())) {
                Path file = folder.resolve(entry.getName());
                if (entry.isDirectory() || file.endsWith("MANIFEST.MF")
                        || file.endsWith("module-info.class")) {
                    continue;
                }
                Files.createDirectories(file.getParent());
                Files.copy(jar.getInputStream(entry), file);
            }
        }
        return folder;
    }

    /** As Maven Shade and Gradle Shadow pack it, and as an IDE runs it. */
    @Test
    void aProgramThatHoldsTheClassesStarts() throws Exception {
        Path folder = unpacked();
        Path counted = Files.createDirectory(tree.resolve("counted"));
        Files.createFile(counted.resolve("one"));
        assertEquals("count 1 in null\n", Java.output(GRANT, "-cp",
                folder + ":" + Java.TESTS, MAIN, "count", counted.toString()));
        Java.run("cp", "-r", Java.TESTS + "/outside", folder.toString());
        Path jar = tree.resolve("all.jar");
        Java.run(Path.of(System.getProperty("java.home"), "bin/jar").toString(), "cfe",
                jar.toString(), MAIN, "-C", folder.toString(), ".");
        assertEquals("count 1 in null\n",
                Java.output(GRANT, "-jar", jar.toString(), "count", counted.toString()));
    }

    @Test
    void twoClassLoadersHaveALibraryEach() throws IOException {
        assertEquals("count 1\ncount 1\n", Java.output(GRANT, "-cp", Java.TESTS.toString(), MAIN,
                "loaders", Java.JAR.toString(), tree.toString()));
    }

    @Test
    void noInitialiserLoadsTheLibrary() throws IOException {
        assertEquals("loaded false\ncount 1 in null\nloaded true\n", Java.output(GRANT, "-cp",
                Java.classPath(), MAIN, "initialisers", Java.JAR.toString(), tree.toString()));
    }

    @Test
    void aThousandScansTakeNoMemory() throws IOException {
        for (int file = 0; file < 3_000; file++) {
            Files.createFile(tree.resolve("file" + file));
        }
        // Rows of one scan take 400 KB: 800 of them would be 320 MB.
        int grown = Integer.parseInt(Java.output("-Xmx64m", GRANT, "-cp", Java.classPath(), MAIN,
                "memory", tree.toString()).strip());
        assertTrue(grown < 80, grown + " MB");
    }
}
