// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A program that asks for attributes in a directory whose entries can be listed alone. */
final class Refused {
    private Refused() {}

    private static String words(Path tree, Throwable thrown) {
        return thrown.getClass().getSimpleName() + " "
                + String.valueOf(thrown.getMessage()).replace(tree.toString(), "TREE");
    }

    private interface Call {
        Object run() throws IOException;
    }

    private static void same(Path tree, Call jdk, Call own) {
        String[] said = new String[2];
        for (int turn = 0; turn < 2; turn++) {
            try {
                said[turn] = "given " + (turn == 0 ? jdk : own).run();
            } catch (IOException thrown) {
                said[turn] = words(tree, thrown);
            }
        }
        System.out.println(said[0].equals(said[1]) ? said[1] : said[1] + ", the JDK " + said[0]);
    }

    public static void main(String[] arguments) throws IOException {
        Path tree = Path.of(arguments[0]);
        ScanOptions options = ScanOptions.DEFAULT
                .withOnError(error -> System.out.println("error " + words(tree, error)));
        try (Stream<AttributedPath> entries = Statwalk.walk(tree.resolve("listable"), options)) {
            for (AttributedPath entry : (Iterable<AttributedPath>) entries::iterator) {
                System.out.println(entry.name() + " " + entry.hasAttributes());
                try {
                    System.out.println(entry.attributes().size());
                } catch (UncheckedIOException refused) {
                    System.out.println(words(tree, refused.getCause()));
                }
            }
        }
        // The first program of the README.
        try (Stream<AttributedPath> entries = Statwalk.walk(tree, options)) {
            System.out.println("sum " + entries.filter(AttributedPath::hasAttributes)
                    .filter(entry -> !entry.attributes().isDirectory())
                    .mapToLong(entry -> entry.attributes().size()).sum());
        }
        try (Stream<AttributedPath> entries = Statwalk.walk(tree.resolve("listable"))) {
            entries.forEach(entry -> {});
        } catch (UncheckedIOException end) {
            IncompleteScanException incomplete = (IncompleteScanException) end.getCause();
            System.out.println(words(tree, incomplete));
            System.out.println("cause " + words(tree, incomplete.getCause()));
        }
        Path closed = tree.resolve("shut");
        same(tree, () -> Files.newDirectoryStream(closed), () -> Statwalk.list(closed));
        same(tree, () -> Files.newDirectoryStream(closed), () -> Statwalk.walk(closed));
        Path below = closed.resolve("below");
        same(tree, () -> Files.newDirectoryStream(below), () -> Statwalk.list(below));
    }
}
