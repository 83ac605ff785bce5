// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** DirectoryStream, recursive: each entry is asked twice, for its type and for its size. */
final class Recursive implements Way {
    @Override
    public Tally walk(Path root, Model model) {
        model.refuseRecords();
        Tally tally = new Tally();
        scan(root.toString(), model, tally);
        return tally;
    }

    private void scan(String directory, Model model, Tally tally) {
        Path path = Path.of(directory);
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(path)) {
            for (Path item : stream) {
                if (Files.isDirectory(item, LinkOption.NOFOLLOW_LINKS)) {
                    tally.directories++;
                    if (model.enters()) {
                        scan(item.toString(), model, tally);
                    }
                } else {
                    tally.files++;
                    if (model.wantsSizes()) {
                        tally.bytes += size(item);
                    }
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            Trouble.report(path, e);
        }
    }

    /** Files.size follows links, and throws for one that leads nowhere. */
    static long size(Path item) {
        try {
            return Files.size(item);
        } catch (IOException e) {
            if (!Files.isSymbolicLink(item)) {
                Trouble.report(item, e);
            }
            return 0;
        }
    }
}
