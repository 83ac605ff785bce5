// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.net.URI;
import java.nio.charset.Charset;
import java.nio.file.Path;

/** Paths and the bytes that the system has for them. */
final class PathBytes {
    private static final char REPLACED = '\ufffd';
    private static final byte[] DIGITS = {
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    };

    private PathBytes() {}

    /** The encoding of paths of this JVM. */
    private static final class Encoding {
        static final Charset OF_PATHS =
                Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

        private Encoding() {}
    }

    /** The text of some bytes, with U+FFFD for those that are no text. */
    static String text(byte[] bytes) {
        return new String(bytes, Encoding.OF_PATHS);
    }

    /** The path that leads to the file with these bytes. */
    static Path path(byte[] bytes) {
        String text = text(bytes);
        if (text.indexOf(REPLACED) < 0) {
            return Path.of(text);
        }
        // A path of the JDK has bytes, and takes those that are no text from a URI alone.
        boolean isAbsolute = bytes[0] == '/';
        StringBuilder uri = new StringBuilder("file:///");
        for (byte value : bytes) {
            if (value == '/') {
                uri.append('/');
            } else {
                uri.append('%').append((char) DIGITS[value >> 4 & 15])
                        .append((char) DIGITS[value & 15]);
            }
        }
        Path path = Path.of(URI.create(uri.toString()));
        return isAbsolute ? path : Path.of("/").relativize(path);
    }

    /** The bytes of a pattern. A letter without bytes would become {@code ?}, which fits any. */
    static byte[] ofPattern(String pattern) {
        if (pattern.indexOf('\0') >= 0 || !Encoding.OF_PATHS.newEncoder().canEncode(pattern)) {
            throw new IllegalArgumentException("exclude has a pattern that fits no path: " + pattern);
        }
        return pattern.getBytes(Encoding.OF_PATHS);
    }

    /** The bytes of a path of the default file system. */
    static byte[] of(Path path) {
        String text = path.toString();
        if (text.indexOf(REPLACED) < 0) {
            return text.getBytes(Encoding.OF_PATHS);
        }
        Path absolute = Path.of("/").resolve(path);
        String raw = absolute.toUri().getRawPath();
        // It ends with a slash where there is a directory.
        int end = raw.endsWith("/") ? raw.length() - 1 : raw.length();
        byte[] bytes = new byte[end];
        int length = 0;
        for (int at = path.isAbsolute() ? 0 : 1; at < end; at++) {
            char letter = raw.charAt(at);
            if (letter == '%') {
                letter = (char) Integer.parseInt(raw, at + 1, at + 3, 16);
                at += 2;
            }
            bytes[length++] = (byte) letter;
        }
        return java.util.Arrays.copyOf(bytes, length);
    }
}
