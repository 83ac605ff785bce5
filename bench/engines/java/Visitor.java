// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.FileVisitor;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.EnumSet;

/** Files.walkFileTree: the attributes come with the visit. */
final class Visitor implements Way {
    @Override
    public Tally walk(Path root, Model model) throws IOException {
        Scanner scanner = new Scanner(root, Tally.of(model), LinkOption.NOFOLLOW_LINKS);
        Files.walkFileTree(root, EnumSet.noneOf(FileVisitOption.class), model.depth(), scanner);
        return scanner.tally;
    }

    static class Scanner implements FileVisitor<Path> {
        final Tally tally;
        private final Path root;
        private final LinkOption[] links;

        Scanner(Path root, Tally tally, LinkOption... links) {
            this.root = root;
            this.tally = tally;
            this.links = links;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            // The root is handed over as the very object that walkFileTree was given.
            if (directory != root) {
                tally.add(directory, attributes);
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            tally.add(file, attributes);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException reason) {
            Trouble.report(file, reason);
            // A directory that cannot be opened comes here and not to preVisitDirectory; its
            // name counts nevertheless.
            if (file != root) {
                try {
                    tally.add(file, Files.readAttributes(file, BasicFileAttributes.class, links));
                } catch (IOException e) {
                    // It has been reported, and there is nothing to add.
                }
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, IOException reason) {
            if (reason != null) {
                Trouble.report(directory, reason);
            }
            return FileVisitResult.CONTINUE;
        }
    }
}
