// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static java.nio.file.FileVisitResult.CONTINUE;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.FileVisitor;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Visits by the JDK and by statwalk, compared. Programs of the tests use it without JUnit. */
final class Visits {
    private Visits() {}

    /** One of both walkers. */
    interface Walker {
        Path walk(Path start, Set<FileVisitOption> options, int depth, FileVisitor<Path> visitor)
                throws IOException;
    }

    /** What a visitor answers to a call, by the word for it and the path. */
    interface Rule {
        FileVisitResult answer(String call, Path path) throws IOException;
    }

    /** The calls of a visitor, with all that they bring. */
    static final class Recorder implements FileVisitor<Path> {
        final List<String> calls = new ArrayList<>();
        private final Rule rule;

        Recorder(Rule rule) {
            this.rule = rule;
        }

        private FileVisitResult note(String call, Path path, String more) throws IOException {
            // A URI has the bytes of the path.
            String text = call + " " + new String(PathBytes.of(path), "ISO-8859-1") + more;
            int at = calls.size();
            calls.add(text);
            FileVisitResult answer = rule.answer(call, path);
            if (call.equals("pre") && answer != CONTINUE) {
                calls.set(at, "not" + text);
            }
            return answer;
        }

        private static String facts(BasicFileAttributes of) {
            boolean isPosix = of instanceof PosixFileAttributes;
            return " " + of.isDirectory() + of.isRegularFile() + of.isSymbolicLink() + of.isOther()
                    + (of.isDirectory() ? "" : of.size()) + of.lastModifiedTime()
                    + (isPosix ? ((PosixFileAttributes) of).permissions() : "");
        }

        /** The JDK has no permissions without being asked; so ask. */
        private static String facts(Path path, BasicFileAttributes of) throws IOException {
            if (of instanceof PosixFileAttributes) {
                return facts(of);
            }
            LinkOption[] options =
                    of.isSymbolicLink() ? new LinkOption[] {LinkOption.NOFOLLOW_LINKS} : new LinkOption[0];
            return facts(Files.readAttributes(path, PosixFileAttributes.class, options));
        }

        private static String name(IOException failure) {
            return failure == null
                    ? " -" : " " + failure.getClass().getSimpleName() + " " + failure.getMessage();
        }

        @Override
        public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes of)
                throws IOException {
            return note("pre", path, facts(path, of));
        }

        @Override
        public FileVisitResult visitFile(Path path, BasicFileAttributes of) throws IOException {
            return note("file", path, facts(path, of));
        }

        @Override
        public FileVisitResult visitFileFailed(Path path, IOException failure) throws IOException {
            return note("failed", path, name(failure));
        }

        @Override
        public FileVisitResult postVisitDirectory(Path path, IOException failure)
                throws IOException {
            return note("post", path, name(failure));
        }
    }

    /** The calls with siblings in the order of their names, because their order is free. */
    static List<String> sorted(List<String> calls) {
        List<List<List<String>>> open = new ArrayList<>();
        open.add(new ArrayList<>());
        for (String call : calls) {
            if (call.startsWith("post ")) {
                List<List<String>> inside = open.remove(open.size() - 1);
                List<List<String>> above = open.get(open.size() - 1);
                List<String> own = above.get(above.size() - 1);
                inside.sort((a, b) -> a.get(0).compareTo(b.get(0)));
                inside.forEach(own::addAll);
                own.add(call);
            } else {
                open.get(open.size() - 1).add(new ArrayList<>(List.of(call)));
                if (call.startsWith("pre ")) {
                    open.add(new ArrayList<>());
                }
            }
        }
        List<String> all = new ArrayList<>();
        for (List<List<String>> inside : open) {
            inside.sort((a, b) -> a.get(0).compareTo(b.get(0)));
            inside.forEach(all::addAll);
        }
        return all;
    }

    private static List<String> outcome(
            Walker walker, Path start, Set<FileVisitOption> options, int depth, Rule rule) {
        Recorder recorder = new Recorder(rule);
        String end;
        try {
            end = walker.walk(start, options, depth, recorder) == start ? "start" : "another path";
        } catch (IOException | RuntimeException | Error thrown) {
            end = thrown.getClass().getName();
        }
        List<String> calls = sorted(recorder.calls);
        calls.add(end);
        return calls;
    }

    static List<String> same(Path start, Set<FileVisitOption> options, int depth, Rule rule) {
        List<String> jdk = outcome(Files::walkFileTree, start, options, depth, rule);
        List<String> own = outcome(Statwalk::walkFileTree, start, options, depth, rule);
        compare(jdk, own, "");
        // A small tree needs no scan.
        int[] scansAfter = jdk.size() < 1000 ? new int[] {0, 1, 3} : new int[0];
        for (int near : scansAfter) {
            List<String> scanned = outcome(withScansAfter(near), start, options, depth, rule);
            compare(jdk, scanned, " with scans after " + near);
        }
        return own;
    }

    /** A visit that begins to scan after so many entries. */
    static Walker withScansAfter(int near) {
        return (start, options, depth, visitor) -> {
            boolean follows = options.contains(FileVisitOption.FOLLOW_LINKS);
            new TreeVisit(visitor, follows, depth, near).visit(start);
            return start;
        };
    }

    private static void compare(List<String> jdk, List<String> own, String how) {
        for (int call = 0; call < Math.max(jdk.size(), own.size()); call++) {
            String expected = call < jdk.size() ? jdk.get(call) : "nothing";
            String found = call < own.size() ? own.get(call) : "nothing";
            if (!expected.equals(found)) {
                throw new AssertionError("call " + call + " of the JDK: " + expected
                        + "; of statwalk" + how + ": " + found);
            }
        }
    }
}
