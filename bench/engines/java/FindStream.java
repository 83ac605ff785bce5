// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Files.find: its condition is the only place where a stream shows the attributes it read. */
final class FindStream implements Way {
    @Override
    public Tally walk(Path root, Model model) throws IOException {
        Tally tally = Tally.of(model);
        try (Stream<Path> none = Files.find(root, model.depth(), (path, attributes) -> {
            // The root is handed over as the very object that find was given.
            if (path != root) {
                tally.add(path, attributes);
            }
            return false;
        })) {
            none.forEach(path -> { });
        } catch (UncheckedIOException e) {
            // The stream ends at the first directory that it cannot open.
            Trouble.report(root, e);
        }
        return tally;
    }
}
