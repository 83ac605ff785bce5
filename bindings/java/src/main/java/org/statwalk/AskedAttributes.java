// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.Map;
import java.util.Set;

/**
 * Attributes that the JDK reads, with a key as {@link Attributes} has it: keys of one file are
 * equal, whoever has read it.
 */
final class AskedAttributes implements PosixFileAttributes {
    /** The text of a key of the JDK. Its numbers by name take twice as long as the call. */
    private static final String DEV = "(dev=";
    private static final String INO = ",ino=";

    private final Path path;
    private final LinkOption[] options;
    private final PosixFileAttributes of;
    private Attributes.Key key;

    private AskedAttributes(Path path, LinkOption[] options, PosixFileAttributes of) {
        this.path = path;
        this.options = options;
        this.of = of;
    }

    /** Asks now, in one call of the system. */
    static AskedAttributes of(Path path, LinkOption... options) throws IOException {
        PosixFileAttributes of =
                Files.readAttributes(path, PosixFileAttributes.class, options);
        return new AskedAttributes(path, options, of);
    }

    @Override
    public FileTime lastModifiedTime() {
        return of.lastModifiedTime();
    }

    @Override
    public FileTime lastAccessTime() {
        return of.lastAccessTime();
    }

    @Override
    public FileTime creationTime() {
        return of.creationTime();
    }

    @Override
    public boolean isRegularFile() {
        return of.isRegularFile();
    }

    @Override
    public boolean isDirectory() {
        return of.isDirectory();
    }

    @Override
    public boolean isSymbolicLink() {
        return of.isSymbolicLink();
    }

    @Override
    public boolean isOther() {
        return of.isOther();
    }

    @Override
    public long size() {
        return of.size();
    }

    @Override
    public synchronized Attributes.Key fileKey() {
        if (key == null) {
            key = keyOf(of.fileKey().toString());
        }
        return key;
    }

    private Attributes.Key keyOf(String text) {
        int ino = text.indexOf(INO);
        if (text.startsWith(DEV) && ino > 0 && text.endsWith(")")) {
            try {
                return new Attributes.Key(Long.parseUnsignedLong(text, DEV.length(), ino, 16),
                        Long.parseLong(text, ino + INO.length(), text.length() - 1, 10));
            } catch (NumberFormatException other) {
                // Another JDK has other words.
            }
        }
        try {
            Map<String, Object> asked = Files.readAttributes(path, "unix:dev,ino", options);
            return new Attributes.Key((Long) asked.get("dev"), (Long) asked.get("ino"));
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }

    @Override
    public Set<PosixFilePermission> permissions() {
        return of.permissions();
    }

    @Override
    public UserPrincipal owner() {
        return of.owner();
    }

    @Override
    public GroupPrincipal group() {
        return of.group();
    }
}
