// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Called as Engine WAY MODEL ROUNDS PATH; the answer is described in ../README.md.

import java.io.IOException;
import java.nio.file.Path;

public final class Engine {
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 4) {
            throw new IllegalArgumentException("Engine WAY MODEL ROUNDS PATH");
        }
        Way way = way(arguments[0]);
        Model model = Model.valueOf(arguments[1].toUpperCase());
        int rounds = Integer.parseInt(arguments[2]);
        Path root = Path.of(arguments[3]);

        for (int round = 0; round < rounds; round++) {
            long begin = System.nanoTime();
            Tally tally = way.walk(root, model);
            long nanoseconds = System.nanoTime() - begin;
            System.out.println(nanoseconds + " " + tally.answer());
        }
        System.exit(Trouble.met() ? 1 : 0);
    }

    private static Way way(String name) {
        return switch (name) {
            case "recursive" -> new Recursive();
            case "queue" -> Iterative.withQueue();
            case "stack" -> Iterative.withStack();
            case "walk-file-tree" -> new Visitor();
            case "walk-file-tree-follow" -> new FollowingVisitor();
            case "names" -> new Names();
            case "attributes" -> new Attributes();
            case "work-stealing" -> new WorkStealing();
            case "fork-join" -> new ForkJoin(StatBy.PATH);
            case "fork-join-relative" -> new ForkJoin(StatBy.NAME);
            case "relative" -> new Relative();
            case "list-files" -> new ListFiles();
            case "walk-stream" -> new WalkStream();
            case "find-stream" -> new FindStream();
            default -> throw new IllegalArgumentException("no way is called " + name);
        };
    }
}
