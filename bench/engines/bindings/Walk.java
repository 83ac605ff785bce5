// SPDX-License-Identifier: MIT OR Apache-2.0
//
// statwalk for Java, by its stream of entries with attributes: Walk MODEL ROUNDS PATH.

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.statwalk.AttributedPath;
import org.statwalk.ScanOptions;
import org.statwalk.Statwalk;

public final class Walk {
    private static boolean failed;

    private final boolean wantsSizes;
    private final List<AttributedPath> records;
    private long files;
    private long directories;
    private long bytes;
    private long mtimeSeconds;

    private Walk(String model) {
        wantsSizes = !model.equals("count");
        records = model.equals("records") ? new ArrayList<>() : null;
    }

    private void add(AttributedPath entry) {
        if (!entry.hasAttributes()) {
            files++;
            return;
        }
        PosixFileAttributes attributes = entry.attributes();
        if (attributes.isDirectory()) {
            directories++;
        } else {
            files++;
        }
        if (wantsSizes && attributes.isRegularFile()) {
            bytes += attributes.size();
        }
        if (records != null) {
            records.add(entry);
            mtimeSeconds += attributes.lastModifiedTime().toInstant().getEpochSecond();
        }
    }

    private String answer() {
        String sums = files + " " + directories + " " + bytes;
        return records == null ? sums : sums + " " + mtimeSeconds;
    }

    public static void main(String[] arguments) throws IOException {
        String model = arguments[0];
        Path root = Path.of(arguments[2]);
        ScanOptions options = ScanOptions.DEFAULT.withOnError(error -> {
            System.err.println(error.getMessage());
            failed = true;
        });
        if (model.equals("directory")) {
            options = options.withMaxDepth(1);
        }
        for (int round = Integer.parseInt(arguments[1]); round > 0; round--) {
            long begin = System.nanoTime();
            Walk walk = new Walk(model);
            try (Stream<AttributedPath> entries = Statwalk.walk(root, options)) {
                entries.forEach(walk::add);
            }
            long nanoseconds = System.nanoTime() - begin;
            System.out.println(nanoseconds + " " + walk.answer());
        }
        System.exit(failed ? 1 : 0);
    }
}
