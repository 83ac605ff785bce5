// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributes;

/** SecureDirectoryStream: openat and fstatat, so that no path is looked up twice. */
final class Relative implements Way {
    @Override
    public Tally walk(Path root, Model model) {
        Tally tally = Tally.of(model);
        try (var directory = (SecureDirectoryStream<Path>) Files.newDirectoryStream(root)) {
            scan(directory, model, tally);
        } catch (IOException | DirectoryIteratorException e) {
            Trouble.report(root, e);
        }
        return tally;
    }

    // The directories above stay open: two descriptors each, one for readdir.
    private void scan(SecureDirectoryStream<Path> directory, Model model, Tally tally) {
        for (Path entry : directory) {
            try {
                BasicFileAttributes attributes = StatBy.NAME.attributes(directory, entry);
                tally.add(entry, attributes);
                if (attributes.isDirectory() && model.enters()) {
                    try (var below = directory.newDirectoryStream(entry.getFileName(), LinkOption.NOFOLLOW_LINKS)) {
                        scan(below, model, tally);
                    }
                }
            } catch (IOException | DirectoryIteratorException e) {
                Trouble.report(entry, e);
            }
        }
    }
}
