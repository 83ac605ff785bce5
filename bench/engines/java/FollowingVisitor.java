// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;

/**
 * Files.walkFileTree as the article has it, with FOLLOW_LINKS. Against cycles the library
 * compares each directory with all those above it.
 */
final class FollowingVisitor implements Way {
    @Override
    public Tally walk(Path root, Model model) throws IOException {
        Visitor.Scanner scanner = new Visitor.Scanner(root, Tally.of(model)) {
            @Override
            public FileVisitResult visitFileFailed(Path file, IOException reason) {
                if (reason instanceof FileSystemLoopException) {
                    return FileVisitResult.CONTINUE;
                }
                return super.visitFileFailed(file, reason);
            }
        };
        Files.walkFileTree(root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), model.depth(), scanner);
        return scanner.tally;
    }
}
