// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the build says what it lacks. */
class BuildTest {
    private static final Path JAVA_17 = Path.of("/usr/lib/jvm/java-17-openjdk-amd64");

    @TempDir
    Path empty;

    @BeforeEach
    void needsMaven() throws IOException {
        assumeTrue(Files.exists(Path.of("pom.xml")) && Files.exists(Path.of("/usr/bin/mvn")),
                "needs Maven");
    }

    private static String refused(Path jdk, String folder) throws Exception {
        ProcessBuilder maven = new ProcessBuilder(List.of("mvn", "-q", "-B", "-o", "validate",
                "-Dstatwalk.native=" + folder)).redirectErrorStream(true);
        maven.environment().put("JAVA_HOME", jdk.toString());
        Process process = maven.start();
        String output = new String(process.getInputStream().readAllBytes());
        assertTrue(process.waitFor() != 0, output);
        return output;
    }

    @Test
    void aJarWithoutItsLibraryIsNotBuilt() throws Exception {
        String output = refused(Path.of(System.getProperty("java.home")), empty.toString());
        assertTrue(output.contains("The jar needs its library"), output);
        assertTrue(output.contains(empty + "/libstatwalk.so"), output);
    }

    @Test
    void anEarlierJdkIsNamed() throws Exception {
        assumeTrue(Files.exists(JAVA_17), "needs JDK 17");
        String output = refused(JAVA_17, empty.toString());
        assertTrue(output.contains("needs JDK 22 or newer to be built; this is JDK 17"), output);
    }
}
