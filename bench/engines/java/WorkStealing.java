// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The article's own: File.listFiles without links, a type and the attributes for each entry
 * (three questions), all put into one synchronized list.
 */
final class WorkStealing implements Way {
    private record FileMetadata(
            String name,
            long size,
            FileTime creationTime,
            FileTime modificationTime,
            FileTime lastAccessTime,
            boolean isDirectory,
            boolean isFile) {

        static FileMetadata tryFromPath(Path path) {
            try {
                BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
                boolean isDirectory = attributes.isDirectory();
                return new FileMetadata(
                        path.toString(),
                        isDirectory ? 0 : attributes.size(),
                        attributes.creationTime(),
                        attributes.lastModifiedTime(),
                        attributes.lastAccessTime(),
                        isDirectory,
                        attributes.isRegularFile());
            } catch (IOException e) {
                Trouble.report(path, e);
                return null;
            }
        }
    }

    @Override
    public Tally walk(Path root, Model model) {
        if (model != Model.SIZE && model != Model.RECORDS) {
            throw new IllegalArgumentException("the article's program always keeps records and adds up their sizes");
        }
        List<FileMetadata> found = Collections.synchronizedList(new ArrayList<>());
        ExecutorService pool = Executors.newWorkStealingPool();
        // As in the article, the root is read by who asks, not by the pool.
        readDirectory(root.toString(), found, pool);
        // What the article's `close` does, which no JDK before 19 has: tasks may still submit others.
        pool.shutdown();
        try {
            pool.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts a walk", e);
        }
        return new Found(found, model);
    }

    private static void readDirectory(String path, List<FileMetadata> found, ExecutorService pool) {
        File[] files = new File(path).listFiles(file -> !Files.isSymbolicLink(file.toPath()));
        if (files == null) {
            Trouble.report(path + ": cannot be listed");
            return;
        }
        for (File file : files) {
            boolean isDirectory = file.isDirectory();
            FileMetadata metadata = FileMetadata.tryFromPath(file.toPath());
            if (metadata != null) {
                found.add(metadata);
            }
            if (isDirectory) {
                pool.submit(() -> readDirectory(file.getAbsolutePath(), found, pool));
            }
        }
    }

    private static final class Found extends Tally {
        private final String mtimeSeconds;

        Found(List<FileMetadata> found, Model model) {
            directories = found.stream().filter(FileMetadata::isDirectory).count();
            files = found.size() - directories;
            bytes = found.stream().mapToLong(FileMetadata::size).sum();
            mtimeSeconds = model != Model.RECORDS ? ""
                    : " " + found.stream().mapToLong(f -> f.modificationTime().toInstant().getEpochSecond()).sum();
        }

        @Override
        String answer() {
            return super.answer() + mtimeSeconds;
        }
    }
}
