// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/** A program that prints the errors of a tree, for an ordinary user. */
final class Unreadable {
    private Unreadable() {}

    public static void main(String[] arguments) throws IOException {
        Path tree = Path.of(arguments[0]);
        try (Stream<AttributedPath> stream = Statwalk.walk(tree)) {
            stream.forEach(entry -> {});
        } catch (UncheckedIOException end) {
            IncompleteScanException incomplete = (IncompleteScanException) end.getCause();
            System.out.print("incomplete " + incomplete.errors().size() + " ");
            incomplete.errors().forEach(Unreadable::print);
        }
        ScanOptions options = ScanOptions.DEFAULT.withOnError(Unreadable::print);
        try (Stream<AttributedPath> stream = Statwalk.walk(tree, options)) {
            stream.forEach(entry -> {});
        }
        ScanOptions pruned = ScanOptions.DEFAULT.withPrune(of -> of.name().equals("closed"));
        try (Stream<AttributedPath> stream = Statwalk.walk(tree, pruned)) {
            stream.forEach(entry -> {});
            System.out.println("complete");
        }
        // An error comes after its entry, where others are pruned too.
        Set<String> given = new HashSet<>();
        ScanOptions elsewhere = options.withPrune(of -> of.name().equals("a"))
                .withOnError(error -> {
                    System.out.print(given.contains(error.getFile()) ? "after " : "before ");
                    print(error);
                });
        try (Stream<AttributedPath> stream = Statwalk.walk(tree, elsewhere)) {
            stream.forEach(entry -> given.add(entry.toString()));
        }
        System.out.println(given.contains(tree.resolve("closed").toString()));
    }

    private static void print(FileSystemException error) {
        System.out.println(error.getClass().getSimpleName() + " " + error.getMessage());
    }
}
