// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static java.nio.file.FileVisitResult.CONTINUE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A program that prints the bytes of all paths, and how many names are no text. */
final class Names {
    private static final Charset OF_PATHS = Charset.forName(System.getProperty("sun.jnu.encoding"));

    private Names() {}

    public static void main(String[] arguments) throws IOException {
        int count = 0;
        for (String argument : arguments) {
            Path tree = Path.of(argument);
            List<AttributedPath> entries;
            try (Stream<AttributedPath> found = Statwalk.walk(tree)) {
                entries = found.collect(Collectors.toList());
            }
            for (AttributedPath entry : entries) {
                check(entry);
                count += isText(entry.nameBytes()) ? 0 : 1;
                byte[] bytes = entry.pathBytes();
                System.out.println(hexadecimal(bytes, 0, bytes.length));
            }
            Visits.same(tree, Set.of(), Integer.MAX_VALUE, (call, path) -> CONTINUE);
        }
        System.out.println(count + " are no text");
    }

    private static void check(AttributedPath entry) throws IOException {
        Path path = entry.path();
        String words = hexadecimal(entry.pathBytes(), 0, entry.pathBytes().length);
        require(Arrays.equals(entry.pathBytes(), PathBytes.of(path)), words);
        require(entry.name().equals(path.getFileName().toString()), words);
        require(isText(entry.nameBytes()) || entry.name().indexOf('\ufffd') >= 0, words);
        // It is the path that the JDK has, and leads to the file.
        long size = Files.size(path.getParent());
        require(size >= 0 && Files.exists(path, LinkOption.NOFOLLOW_LINKS), words);
        require(Files.readAttributes(path, "unix:ino", LinkOption.NOFOLLOW_LINKS)
                .get("ino").equals(entry.attributes().fileKey() instanceof Attributes.Key key
                        ? key.ino() : null), words);
        if (entry.attributes().isDirectory()) {
            try (DirectoryStream<AttributedPath> below = Statwalk.list(path)) {
                below.forEach(file -> require(file.path().getParent().equals(path), words));
            }
        }
    }

    private static boolean isText(byte[] bytes) {
        try {
            OF_PATHS.newDecoder().decode(ByteBuffer.wrap(bytes));
            return true;
        } catch (CharacterCodingException odd) {
            return false;
        }
    }

    private static void require(boolean isTrue, String words) {
        if (!isTrue) {
            throw new AssertionError(words);
        }
    }

    static String hexadecimal(byte[] bytes, int begin, int end) {
        StringBuilder digits = new StringBuilder();
        for (int at = begin; at < end; at++) {
            digits.append(Character.forDigit(bytes[at] >> 4 & 15, 16))
                    .append(Character.forDigit(bytes[at] & 15, 16));
        }
        return digits.toString();
    }
}
