// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/** A task for each directory, on a pool whose idle threads steal. */
final class ForkJoin implements Way {
    private final StatBy stat;

    ForkJoin(StatBy stat) {
        this.stat = stat;
    }

    @Override
    public Tally walk(Path root, Model model) {
        ForkJoinPool pool = new ForkJoinPool();
        try {
            return pool.invoke(new Listing(root, model));
        } finally {
            pool.shutdown();
        }
    }

    // Tasks are never written out, whatever their base class promises.
    @SuppressWarnings("serial")
    private final class Listing extends RecursiveTask<Tally> {
        private final Path directory;
        private final Model model;

        Listing(Path directory, Model model) {
            this.directory = directory;
            this.model = model;
        }

        @Override
        protected Tally compute() {
            Tally tally = Tally.of(model);
            Deque<Listing> below = new ArrayDeque<>();
            try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
                for (Path item : stream) {
                    BasicFileAttributes attributes;
                    try {
                        attributes = stat.attributes(stream, item);
                    } catch (IOException e) {
                        Trouble.report(item, e);
                        continue;
                    }
                    tally.add(item, attributes);
                    if (attributes.isDirectory() && model.enters()) {
                        Listing listing = new Listing(item, model);
                        listing.fork();
                        below.push(listing);
                    }
                }
            } catch (IOException | DirectoryIteratorException e) {
                Trouble.report(directory, e);
            }
            // Last forked, first joined: what nobody stole lies on top of our own queue.
            for (Listing listing : below) {
                tally.add(listing.join());
            }
            return tally;
        }
    }
}
