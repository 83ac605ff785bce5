// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Programs of the tests, in a JVM of their own. */
final class Java {
    static final Path JAR = source(Statwalk.class);
    static final Path TESTS = source(Java.class);

    private Java() {}

    private static Path source(Class<?> of) {
        return Path.of(of.getProtectionDomain().getCodeSource().getLocation().getPath());
    }

    static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    static void run(String... command) throws Exception {
        assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor());
    }

    /** What a JVM with some arguments writes. */
    static String output(List<String> before, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(before);
        command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
        command.addAll(arguments);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return new String(process.getInputStream().readAllBytes());
    }

    static String output(String... arguments) throws IOException {
        return output(List.of(), List.of(arguments));
    }

    static String classPath() {
        return JAR + ":" + TESTS;
    }

    /** What a program writes that an ordinary user runs, to whom permissions apply. */
    static String ofOrdinaryUser(Class<?> program, Path directory, String... more)
            throws Exception {
        List<String> user = isRoot()
                ? List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") : List.of();
        Path classes = Files.createTempDirectory("statwalk-java");
        StringBuilder path = new StringBuilder();
        for (Path from : List.of(JAR, TESTS)) {
            run("cp", "-r", from.toString(), classes.toString());
            path.append(classes.resolve(from.getFileName())).append(':');
        }
        run("chmod", "-R", "a+rX", classes.toString());
        List<String> arguments = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED",
                "-cp", path.toString(), program.getName(), directory.toString()));
        arguments.addAll(List.of(more));
        String output = output(user, arguments);
        run("rm", "-r", classes.toString());
        return output;
    }
}
