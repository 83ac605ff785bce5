// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Checks of trees that others change now and then, such as {@code /usr} and {@code /dev}. */
final class Calm {
    private static final int TURNS = 100;

    private Calm() {}

    /** Compares two walkers. */
    interface Check {
        void run() throws IOException;
    }

    /** Calls the check, again where the tree has changed while it failed. */
    static void check(Path root, int depth, Check check) throws IOException {
        for (int turn = 0; turn < TURNS; turn++) {
            Map<String, String> before = look(root, depth);
            try {
                check.run();
                return;
            } catch (IOException | RuntimeException | AssertionError failure) {
                if (look(root, depth).equals(before)) {
                    throw failure;
                }
            }
        }
        throw new AssertionError(root + " changes all the time");
    }

    static void check(Path root, Check check) throws IOException {
        check(root, Integer.MAX_VALUE, check);
    }

    /** The attributes of all entries. */
    private static Map<String, String> look(Path root, int depth) throws IOException {
        Map<String, String> found = new TreeMap<>();
        Files.walkFileTree(root, Set.of(), depth, new SimpleFileVisitor<>() {
            private void note(Path path) {
                try {
                    Map<String, Object> facts = Files.readAttributes(
                            path, "unix:mode,ino,size,ctime,lastModifiedTime",
                            LinkOption.NOFOLLOW_LINKS);
                    found.put(path.toString(), new TreeMap<>(facts).toString());
                } catch (IOException failure) {
                    found.put(path.toString(), "gone");
                }
            }

            @Override
            public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes of) {
                note(path);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path path, BasicFileAttributes of) {
                note(path);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path path, IOException failure) {
                found.put(path.toString(), "gone");
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path path, IOException failure) {
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }
}
