// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.FileVisitor;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.stream.Stream;

/** A program that does not want what is below directories with a name that begins with "skipped". */
final class Skipping {
    private Skipping() {}

    public static void main(String[] arguments) throws IOException {
        Path tree = Path.of(arguments[0]);
        if (arguments[1].equals("prune")) {
            ScanOptions options = ScanOptions.DEFAULT.withThreads(1)
                    .withPrune(directory -> directory.name().startsWith("skipped"));
            try (Stream<AttributedPath> entries = Statwalk.walk(tree, options)) {
                entries.forEach(entry -> {});
            }
            return;
        }
        FileVisitResult answer = FileVisitResult.valueOf(arguments[1]);
        FileVisitor<Path> visitor = new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes of) {
                return path.getFileName().toString().startsWith("skipped")
                        ? answer : FileVisitResult.CONTINUE;
            }
        };
        int scansAfter = Integer.parseInt(arguments[2]);
        new TreeVisit(visitor, false, Integer.MAX_VALUE, scansAfter).visit(tree);
    }
}
