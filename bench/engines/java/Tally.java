// SPDX-License-Identifier: MIT OR Apache-2.0

import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/** The sums of one walk. What is added up is decided once, by the class. */
class Tally {
    long files;
    long directories;
    long bytes;

    static Tally of(Model model) {
        return switch (model) {
            case COUNT -> new Tally();
            case SIZE, DIRECTORY -> new Sizes();
            case RECORDS -> new Records();
        };
    }

    void add(Path path, BasicFileAttributes attributes) {
        if (attributes.isDirectory()) {
            directories++;
        } else {
            files++;
        }
    }

    void add(Tally other) {
        files += other.files;
        directories += other.directories;
        bytes += other.bytes;
    }

    String answer() {
        return files + " " + directories + " " + bytes;
    }

    private static class Sizes extends Tally {
        @Override
        void add(Path path, BasicFileAttributes attributes) {
            super.add(path, attributes);
            if (attributes.isRegularFile()) {
                bytes += attributes.size();
            }
        }
    }

    /**
     * The name stays a Path and the attributes stay as they came: both hold what the system
     * said, the name as bytes, and turn it into objects only when asked.
     */
    private record Entry(Path path, BasicFileAttributes attributes) {
    }

    private static final class Records extends Sizes {
        private final List<Entry> entries = new ArrayList<>();
        // A list of lists, so that parts of a parallel walk are joined without copying.
        private final List<Tally> parts = new ArrayList<>(0);
        private long mtimeSeconds;

        @Override
        void add(Path path, BasicFileAttributes attributes) {
            super.add(path, attributes);
            entries.add(new Entry(path, attributes));
            mtimeSeconds += attributes.lastModifiedTime().toInstant().getEpochSecond();
        }

        @Override
        void add(Tally other) {
            super.add(other);
            parts.add(other);
            mtimeSeconds += ((Records) other).mtimeSeconds;
        }

        @Override
        String answer() {
            return super.answer() + " " + mtimeSeconds;
        }
    }
}
