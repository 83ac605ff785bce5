// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Trees for tests. */
final class Trees {
    private static final byte[][] HOSTILE = {
        {'-', 'r', 'f'}, {' '}, {'\n'}, {'a', '\n', 'b'}, {'\\'}, {'%', '4', '1'}, {(byte) 0xff},
        {'x', (byte) 0xfe, 'y'}, {(byte) 0xef, (byte) 0xbf, (byte) 0xbd}, {(byte) 0xc3, (byte) 0xa4},
        {'a', (byte) 0xcc, (byte) 0x88}, {'.', '.', '.'}, {'\t'}, {'*'}, {'?', '#'},
        {(byte) 0xed, (byte) 0xa0, (byte) 0x80}, {1}, {0x7f},
    };

    private Trees() {}

    /** Makes files with names that trouble programs, below two such directories. */
    static void hostile(Path root) throws IOException {
        for (byte[] name : HOSTILE) {
            Path directory = Files.createDirectory(root.resolve(PathBytes.path(name)));
            for (byte[] file : HOSTILE) {
                Files.createFile(directory.resolve(PathBytes.path(file)));
            }
        }
    }

    /** Makes a tree by chance, with links that lead up, aside and nowhere. Gives its directories. */
    static List<Path> random(Path root, long seed) throws IOException {
        Random random = new Random(seed);
        List<Path> directories = new ArrayList<>(List.of(root));
        int count = 20 + random.nextInt(200);
        for (int number = 0; number < count; number++) {
            Path in = directories.get(random.nextInt(directories.size()));
            byte[] begin = HOSTILE[random.nextInt(HOSTILE.length)];
            Path name = random.nextInt(4) == 0
                    ? Path.of(PathBytes.path(begin) + "n" + number) : Path.of("n" + number);
            Path path = in.resolve(name);
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> directories.add(Files.createDirectory(path));
                case 3 -> Files.createSymbolicLink(path,
                        directories.get(random.nextInt(directories.size())).toAbsolutePath());
                case 4 -> Files.createSymbolicLink(path, Path.of("nowhere"));
                default -> Files.write(path, new byte[random.nextInt(100)]);
            }
        }
        return directories;
    }

    private static final FileTime NEVER = FileTime.fromMillis(0);

    static void forgetAccess(List<Path> directories) throws IOException {
        for (Path path : directories) {
            Files.setAttribute(path, "lastAccessTime", NEVER);
        }
    }

    /** How many directories somebody has read who does not own them. */
    static int read(List<Path> directories) throws IOException {
        int count = 0;
        for (Path path : directories) {
            count += Files.getAttribute(path, "lastAccessTime").equals(NEVER) ? 0 : 1;
        }
        return count;
    }
}
