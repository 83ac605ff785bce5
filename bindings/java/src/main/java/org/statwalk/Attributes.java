// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Attributes of an entry. */
final class Attributes implements PosixFileAttributes {
    private static final int FILE = 0;
    static final int DIRECTORY = 1;
    private static final int SYMLINK = 2;
    private static final PosixFilePermission[] PERMISSIONS = {
        PosixFilePermission.OTHERS_EXECUTE, PosixFilePermission.OTHERS_WRITE,
        PosixFilePermission.OTHERS_READ, PosixFilePermission.GROUP_EXECUTE,
        PosixFilePermission.GROUP_WRITE, PosixFilePermission.GROUP_READ,
        PosixFilePermission.OWNER_EXECUTE, PosixFilePermission.OWNER_WRITE,
        PosixFilePermission.OWNER_READ,
    };

    /** Identifies a file among those of scans and visits. */
    record Key(long dev, long ino) {}

    private final Rows rows;
    private final int row;
    /** Where rows have names alone. */
    private final Path path;

    Attributes(Rows rows, int row, Path path) {
        this.rows = rows;
        this.row = row;
        this.path = path;
    }

    /** Of rows that have paths. */
    Attributes(Rows rows, int row) {
        this(rows, row, null);
    }

    private Path path() {
        return path == null ? PathBytes.path(rows.path(row)) : path;
    }

    private static FileTime time(long[] ns, byte[] isKnown, int row) {
        if (!Rows.bit(isKnown, row)) {
            return null;
        }
        return FileTime.from(ns[row], TimeUnit.NANOSECONDS);
    }

    /** Nanoseconds of 64 bits end in 1677 and 2262. The JDK is asked for a time beyond. */
    private FileTime known(FileTime time, String attribute) {
        if (time != null) {
            return time;
        }
        try {
            return (FileTime) Files.getAttribute(path(), attribute, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException gone) {
            throw new UnsupportedOperationException("the time lies before 1677 or after 2262", gone);
        }
    }

    @Override
    public FileTime lastModifiedTime() {
        return known(time(rows.mtime, rows.mtimeIsKnown, row), "lastModifiedTime");
    }

    @Override
    public FileTime lastAccessTime() {
        return known(time(rows.atime, rows.atimeIsKnown, row), "lastAccessTime");
    }

    /** As the JDK has it: the last change of the content where no birth is known. */
    @Override
    public FileTime creationTime() {
        FileTime birth = time(rows.btime, rows.btimeIsKnown, row);
        return birth == null ? lastModifiedTime() : birth;
    }

    @Override
    public boolean isRegularFile() {
        return rows.types[row] == FILE;
    }

    @Override
    public boolean isDirectory() {
        return rows.types[row] == DIRECTORY;
    }

    @Override
    public boolean isSymbolicLink() {
        return rows.types[row] == SYMLINK;
    }

    @Override
    public boolean isOther() {
        return rows.types[row] > SYMLINK;
    }

    @Override
    public long size() {
        return rows.size[row];
    }

    @Override
    public Key fileKey() {
        return new Key(rows.dev[row], rows.ino[row]);
    }

    @Override
    public Set<PosixFilePermission> permissions() {
        return permissions(rows.mode[row]);
    }

    static Set<PosixFilePermission> permissions(int mode) {
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        for (int bit = 0; bit < PERMISSIONS.length; bit++) {
            if ((mode >> bit & 1) == 1) {
                permissions.add(PERMISSIONS[bit]);
            }
        }
        return permissions;
    }

    @Override
    public UserPrincipal owner() {
        return Principals.owner(rows.uid[row], this::path);
    }

    @Override
    public GroupPrincipal group() {
        return Principals.group(rows.gid[row], this::path);
    }
}
