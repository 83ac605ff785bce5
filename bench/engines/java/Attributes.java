// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** DirectoryStream, recursive, with all attributes of an entry in one question. */
final class Attributes implements Way {
    @Override
    public Tally walk(Path root, Model model) {
        Tally tally = Tally.of(model);
        scan(root, model, tally);
        return tally;
    }

    private void scan(Path directory, Model model, Tally tally) {
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
            for (Path item : stream) {
                BasicFileAttributes attributes;
                try {
                    attributes = Files.readAttributes(item, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                } catch (IOException e) {
                    Trouble.report(item, e);
                    continue;
                }
                tally.add(item, attributes);
                if (attributes.isDirectory() && model.enters()) {
                    scan(item, model, tally);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            Trouble.report(directory, e);
        }
    }
}
