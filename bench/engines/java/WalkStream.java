// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Files.walk: it reads the attributes of every entry, and hands out only the path. */
final class WalkStream implements Way {
    @Override
    public Tally walk(Path root, Model model) throws IOException {
        model.refuseRecords();
        Tally tally = new Tally();
        try (Stream<Path> paths = Files.walk(root, model.depth())) {
            // The first is the root.
            paths.skip(1).forEach(path -> {
                if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                    tally.directories++;
                } else {
                    tally.files++;
                    if (model.wantsSizes() && Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
                        tally.bytes += Recursive.size(path);
                    }
                }
            });
        } catch (UncheckedIOException e) {
            // The stream ends at the first directory that it cannot open.
            Trouble.report(root, e);
        }
        return tally;
    }
}
