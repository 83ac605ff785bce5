// SPDX-License-Identifier: MIT OR Apache-2.0

package outside;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.statwalk.AttributedPath;
import org.statwalk.ScanOptions;
import org.statwalk.Statwalk;

/** A program that uses the library as others do: by its jar, from another package. */
public final class Program {
    private Program() {}

    /** Runs a task.
     *
     * @param arguments the task, and a directory or a jar
     * @throws Exception if it fails */
    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "count" -> count(Path.of(arguments[1]));
            case "loaders" -> loaders(Path.of(arguments[1]), arguments[2]);
            case "initialisers" -> initialisers(Path.of(arguments[1]), Path.of(arguments[2]));
            case "memory" -> memory(Path.of(arguments[1]));
            case "deep" -> deep(Path.of(arguments[1]));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static void count(Path directory) throws IOException {
        try (Stream<AttributedPath> entries = Statwalk.walk(directory)) {
            System.out.println("count " + entries.count()
                    + " in " + Statwalk.class.getModule().getName());
        } catch (IOException failure) {
            System.out.println(failure.getMessage());
        }
    }

    /** The library twice in one process. */
    private static void loaders(Path jar, String directory) throws Exception {
        URL[] classes = {jar.toUri().toURL()};
        for (int turn = 0; turn < 2; turn++) {
            try (URLClassLoader loader =
                    new URLClassLoader(classes, ClassLoader.getPlatformClassLoader())) {
                Class<?> statwalk = loader.loadClass("org.statwalk.Statwalk");
                var walk = statwalk.getMethod("walk", Path.class);
                try (Stream<?> entries = (Stream<?>) walk.invoke(null, Path.of(directory))) {
                    System.out.println("count " + entries.count());
                }
            }
        }
    }

    private static boolean isLoaded() throws IOException {
        return Files.readString(Path.of("/proc/self/maps")).contains("libstatwalk");
    }

    private static void initialisers(Path jar, Path directory) throws Exception {
        try (JarFile file = new JarFile(jar.toFile())) {
            for (var entry : file.stream().toList()) {
                String name = entry.getName();
                if (name.startsWith("org/") && name.endsWith(".class")
                        && !name.endsWith("package-info.class")) {
                    Class.forName(name.substring(0, name.length() - 6).replace('/', '.'));
                }
            }
        }
        System.out.println("loaded " + isLoaded());
        count(directory);
        System.out.println("loaded " + isLoaded());
    }

    /** Scans many times, and prints by how many megabytes the process has grown. */
    private static void memory(Path directory) throws Exception {
        long before = 0;
        for (int turn = 0; turn < 1000; turn++) {
            if (turn == 200) {
                before = resident();
            }
            try (Stream<AttributedPath> entries = Statwalk.walk(directory)) {
                if (turn % 4 == 0) {
                    entries.iterator().next();
                } else {
                    entries.count();
                }
            }
        }
        System.out.println((resident() - before) >> 20);
    }

    /** Asks all entries for their paths, and prints their number, the longest path, and by how
     * many megabytes the process has grown. */
    private static void deep(Path directory) throws Exception {
        ScanOptions oneLevel = ScanOptions.DEFAULT.withMaxDepth(1);
        try (Stream<AttributedPath> first = Statwalk.walk(directory, oneLevel)) {
            first.count();
        }
        long before = resident();
        long[] found = {0, 0, 0};
        try (Stream<AttributedPath> entries = Statwalk.walk(directory)) {
            entries.forEach(entry -> {
                found[1] = Math.max(found[1], entry.pathBytes().length);
                if (found[0]++ % 1000 == 0) {
                    found[2] = Math.max(found[2], grown(before));
                }
            });
        }
        System.out.println(found[0] + " " + found[1] + " " + Math.max(found[2], grown(before)));
    }

    private static long grown(long before) {
        try {
            return resident() - before >> 20;
        } catch (IOException failure) {
            throw new java.io.UncheckedIOException(failure);
        }
    }

    private static long resident() throws IOException {
        String[] pages = Files.readString(Path.of("/proc/self/statm")).split(" ");
        return Long.parseLong(pages[1]) * 4096;
    }
}
