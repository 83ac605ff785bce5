// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BiConsumer;

/** The same questions as Recursive asks, with the directories found kept in a list. */
final class Iterative implements Way {
    private final BiConsumer<Deque<String>, String> keep;

    private Iterative(BiConsumer<Deque<String>, String> keep) {
        this.keep = keep;
    }

    static Iterative withQueue() {
        return new Iterative(Deque::addLast);
    }

    static Iterative withStack() {
        return new Iterative(Deque::addFirst);
    }

    @Override
    public Tally walk(Path root, Model model) {
        model.refuseRecords();
        Tally tally = new Tally();
        Deque<String> directories = new ArrayDeque<>();
        directories.add(root.toString());
        while (!directories.isEmpty()) {
            Path path = Path.of(directories.removeFirst());
            try (DirectoryStream<Path> stream = Files.newDirectoryStream(path)) {
                for (Path item : stream) {
                    if (Files.isDirectory(item, LinkOption.NOFOLLOW_LINKS)) {
                        tally.directories++;
                        if (model.enters()) {
                            keep.accept(directories, item.toString());
                        }
                    } else {
                        tally.files++;
                        if (model.wantsSizes()) {
                            tally.bytes += Recursive.size(item);
                        }
                    }
                }
            } catch (IOException | DirectoryIteratorException e) {
                Trouble.report(path, e);
            }
        }
        return tally;
    }
}
