// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitResult;
import java.nio.file.FileVisitor;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A visit of a whole tree that was read before. */
final class TreeVisit {
    private static final int EACCES = 13;

    /** A directory that is being visited. */
    private record Open(Path path, Iterator<AttributedPath> children) {}

    private final Map<String, List<AttributedPath>> children = new HashMap<>();
    private final Map<String, IOException> errors = new HashMap<>();

    static void visit(Path start, FileVisitor<? super Path> visitor) throws IOException {
        BasicFileAttributes attributes;
        try {
            attributes = Files.readAttributes(
                    start, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException missing) {
            Objects.requireNonNull(visitor.visitFileFailed(start, missing));
            return;
        }
        if (!attributes.isDirectory()) {
            Objects.requireNonNull(visitor.visitFile(start, attributes));
            return;
        }
        TreeVisit tree = new TreeVisit();
        tree.read(start);
        tree.visitAll(start, attributes, visitor);
    }

    private void read(Path start) throws IOException {
        ScanOptions options = ScanOptions.DEFAULT.withOnError(error -> {
            IOException failure = error.number() == EACCES
                    ? new AccessDeniedException(error.getFile()) : error;
            errors.put(error.getFile(), failure);
        });
        try (Scan scan = new Scan(start, options)) {
            for (AttributedPath entry; (entry = scan.next()) != null; ) {
                String path = entry.toString();
                String parent = path.substring(0, path.lastIndexOf('/'));
                children.computeIfAbsent(parent, key -> new ArrayList<>()).add(entry);
            }
        }
    }

    /** The children are found by the path as the scan has written it. */
    private Open open(Path path, String written) {
        String key = written.equals("/") ? "" : written;
        List<AttributedPath> found = children.remove(key);
        return new Open(path, (found == null ? List.<AttributedPath>of() : found).iterator());
    }

    private void visitAll(Path start, BasicFileAttributes of, FileVisitor<? super Path> visitor)
            throws IOException {
        Deque<Open> open = new ArrayDeque<>();
        String written = start.toString().isEmpty() ? "." : start.toString();
        IOException refused = errors.remove(written);
        if (refused != null) {
            Objects.requireNonNull(visitor.visitFileFailed(start, refused));
            return;
        }
        FileVisitResult result = Objects.requireNonNull(visitor.preVisitDirectory(start, of));
        if (result != FileVisitResult.CONTINUE) {
            return;
        }
        open.push(open(start, written));
        while (!open.isEmpty()) {
            Open here = open.peek();
            if (!here.children.hasNext()) {
                open.pop();
                result = Objects.requireNonNull(visitor.postVisitDirectory(here.path, null));
            } else {
                AttributedPath entry = here.children.next();
                result = visitEntry(start, entry, visitor, open);
            }
            switch (result) {
                case TERMINATE -> {
                    return;
                }
                case SKIP_SIBLINGS -> {
                    // After a directory these are the siblings of that directory.
                    Open above = open.peek();
                    if (above != null) {
                        open.pop();
                        open.push(new Open(above.path, List.<AttributedPath>of().iterator()));
                    }
                }
                default -> {}
            }
        }
    }

    private FileVisitResult visitEntry(
            Path start, AttributedPath entry, FileVisitor<? super Path> visitor, Deque<Open> open)
            throws IOException {
        Path path = entry.path();
        if (start.toString().isEmpty()) {
            // The JDK has no dot before names below the empty path.
            path = Path.of(".").relativize(path);
        }
        String written = entry.toString();
        PosixFileAttributes attributes = entry.attributes();
        IOException refused = errors.remove(written);
        if (refused != null || attributes == null) {
            IOException failure = refused != null ? refused : new IOException(written);
            return Objects.requireNonNull(visitor.visitFileFailed(path, failure));
        }
        if (!attributes.isDirectory()) {
            return Objects.requireNonNull(visitor.visitFile(path, attributes));
        }
        FileVisitResult result =
                Objects.requireNonNull(visitor.preVisitDirectory(path, attributes));
        if (result == FileVisitResult.CONTINUE) {
            open.push(open(path, written));
        }
        // A subtree that is skipped leaves its siblings.
        return result;
    }
}
