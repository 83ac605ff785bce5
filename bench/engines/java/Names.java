// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** A bare DirectoryStream. The library drops the type that readdir gave, so all are files. */
final class Names implements Way {
    @Override
    public Tally walk(Path root, Model model) {
        if (model != Model.DIRECTORY) {
            throw new IllegalArgumentException("names alone do not say what to enter");
        }
        Tally tally = new Tally();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(root)) {
            for (Path item : stream) {
                tally.files++;
            }
        } catch (IOException | DirectoryIteratorException e) {
            Trouble.report(root, e);
        }
        return tally;
    }
}
