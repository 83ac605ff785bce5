// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static java.nio.file.FileVisitResult.CONTINUE;

import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** A program that visits a tree with closed directories, for an ordinary user. */
final class Closed {
    private Closed() {}

    public static void main(String[] arguments) {
        Path tree = Path.of(arguments[0]);
        List<String> calls = same(tree, (call, path) -> CONTINUE);
        Visits.same(tree, Set.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE,
                (call, path) -> CONTINUE);
        same(tree.resolve("closed"), (call, path) -> CONTINUE);
        same(tree.resolve("closed/below"), (call, path) -> CONTINUE);
        for (FileVisitResult answer : FileVisitResult.values()) {
            same(tree.resolve("alone"),
                    (call, path) -> call.equals("failed") ? answer : CONTINUE);
        }
        same(tree.resolve("alone"), (call, path) -> call.equals("failed") ? null : CONTINUE);
        calls.stream().filter(call -> call.startsWith("failed")).sorted()
                .forEach(System.out::println);
    }

    private static List<String> same(Path start, Visits.Rule rule) {
        return Visits.same(start, Set.of(), Integer.MAX_VALUE, rule);
    }
}
