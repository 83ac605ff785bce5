// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;

/** java.io.File, older than java.nio.file and still the first that people write. */
final class ListFiles implements Way {
    @Override
    public Tally walk(Path root, Model model) {
        model.refuseRecords();
        Tally tally = new Tally();
        scan(root.toFile(), model, tally);
        return tally;
    }

    private void scan(File directory, Model model, Tally tally) {
        File[] found = directory.listFiles();
        if (found == null) {
            Trouble.report(directory + ": cannot be listed");
            return;
        }
        for (File file : found) {
            if (!file.isDirectory()) {
                tally.files++;
                if (model.wantsSizes()) {
                    tally.bytes += file.length();
                }
            } else if (Files.isSymbolicLink(file.toPath())) {
                // Without this question, which File cannot answer, a link to "." never ends.
                tally.files++;
            } else {
                tally.directories++;
                if (model.enters()) {
                    scan(file, model, tally);
                }
            }
        }
    }
}
