// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitResult;
import java.nio.file.FileVisitor;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;

/** The calls of a visitor, by what is read ahead. */
final class TreeVisit {
    /** A directory that is being visited. */
    private record Open(Path path, ReadAhead.Directory directory, Object key) {}

    private final FileVisitor<? super Path> visitor;
    private final boolean followsLinks;
    private final int maxDepth;
    private final ReadAhead readAhead;
    private final Deque<Open> open = new ArrayDeque<>();

    TreeVisit(FileVisitor<? super Path> visitor, boolean followsLinks, int maxDepth) {
        this(visitor, followsLinks, maxDepth, ReadAhead.NEAR);
    }

    /** With another number of entries that it visits before the first scan. */
    TreeVisit(FileVisitor<? super Path> visitor, boolean followsLinks, int maxDepth, int near) {
        this.visitor = visitor;
        this.followsLinks = followsLinks;
        this.maxDepth = maxDepth;
        // A directory behind a link and one without can be the same, and one scan gives it once.
        this.readAhead = new ReadAhead(followsLinks ? 0 : near);
    }

    /** How many scans it took. */
    int scans() {
        return readAhead.scans();
    }

    void visit(Path start) throws IOException {
        AskedAttributes own;
        try {
            own = AskedAttributes.of(start, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException missing) {
            Objects.requireNonNull(visitor.visitFileFailed(start, missing));
            return;
        }
        // The result for a start that is not entered ends the visit, whatever it is.
        FileVisitResult result = visitEntry(start, own, null);
        while (result != FileVisitResult.TERMINATE && !open.isEmpty()) {
            Open here = open.peek();
            if (!readAhead.isNear() && here.directory.canGoOn()) {
                readAhead.goOn(open.stream().map(Open::directory).toList());
            }
            Path listed = here.directory.takeName();
            if (listed != null) {
                readAhead.visitName();
                result = visitEntry(listed, null, null);
                if (result == FileVisitResult.SKIP_SIBLINGS) {
                    here.directory.skipRest();
                }
                continue;
            }
            Rows rows = here.directory.entryRows();
            ReadAhead.Directory directory;
            if (rows != null) {
                int row = here.directory.takeEntry();
                Path path = here.path.resolve(PathBytes.path(rows.name(row)));
                Attributes attributes =
                        rows.isKnown(row) ? new Attributes(rows, row, path) : null;
                result = visitEntry(path, attributes, null);
            } else if ((directory = here.directory.takeDirectory()) != null) {
                Path path = here.path.resolve(PathBytes.path(directory.name()));
                result = visitEntry(path, directory.attributes(path), directory);
            } else {
                open.pop();
                IOException cut = readAhead.takeError(here.directory, here.path);
                // There are no siblings to be left out: the directory itself is over.
                if (called(visitor.postVisitDirectory(here.path, cut))
                        == FileVisitResult.TERMINATE) {
                    return;
                }
                continue;
            }
            if (result == FileVisitResult.SKIP_SIBLINGS) {
                here.directory.skipRest();
            }
        }
    }

    private static FileVisitResult called(FileVisitResult result) {
        return Objects.requireNonNull(result, "the visitor has given null");
    }

    /**
     * Visits an entry, and enters it if it is a directory.
     *
     * @param attributes null where they could not be read
     * @param readBefore what is known of a directory; null for nothing
     */
    private FileVisitResult visitEntry(
            Path path, PosixFileAttributes attributes, ReadAhead.Directory readBefore)
            throws IOException {
        PosixFileAttributes of = attributes;
        // A link or another directory can have taken the place of a directory since it was read
        // ahead. A visit must not go through the one, nor give entries that the other lacks.
        if (of == null || of.isDirectory()) {
            try {
                of = AskedAttributes.of(path, LinkOption.NOFOLLOW_LINKS);
            } catch (IOException failure) {
                return called(visitor.visitFileFailed(path, failure));
            }
            if (readBefore != null && attributes != null
                    && !attributes.fileKey().equals(of.fileKey())) {
                readBefore.forget();
            }
        }
        boolean isLink = of.isSymbolicLink();
        if (isLink && followsLinks) {
            try {
                of = AskedAttributes.of(path);
            } catch (IOException nowhere) {
                // The link itself is visited then.
                return called(visitor.visitFile(path, of));
            }
        }
        if (!of.isDirectory() || open.size() >= maxDepth) {
            return called(visitor.visitFile(path, of));
        }
        Object key = followsLinks ? of.fileKey() : null;
        if (followsLinks && open.stream().anyMatch(above -> key.equals(above.key))) {
            return called(
                    visitor.visitFileFailed(path, new FileSystemLoopException(path.toString())));
        }
        ReadAhead.Directory directory =
                readBefore == null ? new ReadAhead.Directory() : readBefore;
        if (directory.isRead()) {
            return enter(path, of, key, directory, isLink, null);
        }
        DirectoryStream<Path> names;
        try {
            // The exception of the JDK, before the visitor hears of a directory.
            names = Files.newDirectoryStream(path);
            if (!readAhead.isNear()) {
                names.close();
            }
        } catch (IOException refused) {
            return called(visitor.visitFileFailed(path, refused));
        }
        try (names) {
            return enter(path, of, key, directory, isLink, names);
        }
    }

    /**
     * Enters a directory, if the visitor wants it.
     *
     * @param names of a directory that was not read ahead
     */
    private FileVisitResult enter(Path path, PosixFileAttributes of, Object key,
            ReadAhead.Directory directory, boolean isLink, DirectoryStream<Path> names)
            throws IOException {
        boolean isNear = readAhead.isNear();
        FileVisitResult result = called(visitor.preVisitDirectory(path, of));
        if (result != FileVisitResult.CONTINUE) {
            readAhead.skip(directory);
            return result;
        }
        if (!directory.isRead() && !(isNear && readAhead.list(directory, path, of, names))) {
            readAhead.read(directory, path, isLink, maxDepth - open.size());
        }
        open.push(new Open(path, directory, key));
        return result;
    }
}
