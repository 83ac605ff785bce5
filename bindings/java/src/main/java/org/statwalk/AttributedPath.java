// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CodingErrorAction;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.Arrays;

/** An entry and its attributes: a view into a batch, which it keeps alive. */
public final class AttributedPath {
    private static final char REPLACED = '\ufffd';

    private final Rows rows;
    private final int row;

    AttributedPath(Rows rows, int row) {
        this.rows = rows;
        this.row = row;
    }

    /** The encoding of paths of this JVM. */
    static final class Encoding {
        static final Charset OF_PATHS =
                Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

        private Encoding() {}
    }

    static Charset encoding() {
        return Encoding.OF_PATHS;
    }

    static String lossy(byte[] bytes) {
        return new String(bytes, encoding());
    }

    /** The path, beginning with the path that the caller gave.
     *
     * @return the path
     * @throws UndecodablePathException if it would not lead back to the file */
    public Path path() {
        byte[] bytes = pathBytes();
        String text = lossy(bytes);
        try {
            // What was replaced would lead to another file, or to none. A name can also
            // have this character itself, so a strict decoder decides; it is slow.
            if (text.indexOf(REPLACED) >= 0) {
                encoding().newDecoder()
                        .onMalformedInput(CodingErrorAction.REPORT)
                        .onUnmappableCharacter(CodingErrorAction.REPORT)
                        .decode(ByteBuffer.wrap(bytes));
            }
            return Path.of(text);
        } catch (CharacterCodingException | InvalidPathException refused) {
            throw new UndecodablePathException(bytes, lossy(bytes));
        }
    }

    /** The bytes of the path.
     *
     * @return a copy */
    public byte[] pathBytes() {
        return Arrays.copyOfRange(
                rows.paths, (int) rows.pathOffsets[row], (int) rows.pathOffsets[row + 1]);
    }

    /** The bytes of the name.
     *
     * @return a copy */
    public byte[] nameBytes() {
        int begin = (int) rows.pathOffsets[row];
        int end = (int) rows.pathOffsets[row + 1];
        int at = end;
        while (at > begin && rows.paths[at - 1] != '/') {
            at--;
        }
        return Arrays.copyOfRange(rows.paths, at, end);
    }

    /** The name, with U+FFFD for bytes that are no text.
     *
     * @return the name */
    public String name() {
        return lossy(nameBytes());
    }

    /** The attributes, which were read with the entry.
     *
     * @return the attributes; null where they could not be read */
    public PosixFileAttributes attributes() {
        return Rows.bit(rows.isKnown, row) ? new Attributes(rows, row, this) : null;
    }

    @Override
    public String toString() {
        return lossy(pathBytes());
    }
}
