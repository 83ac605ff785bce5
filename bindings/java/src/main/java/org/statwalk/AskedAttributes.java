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
import java.util.Map;
import java.util.Set;

/**
 * Attributes that the JDK reads, with a key as {@link Attributes} has it: keys of one file are
 * equal, whoever has read it.
 */
final class AskedAttributes implements PosixFileAttributes {
    private static final String WANTED =
            "unix:dev,ino,mode,uid,gid,size,lastModifiedTime,lastAccessTime,creationTime";
    // By inode(7).
    private static final int FORMAT = 0170000;
    private static final int DIRECTORY = 0040000;
    private static final int FILE = 0100000;
    private static final int SYMLINK = 0120000;

    private final Path path;
    private final Map<String, Object> of;
    private final int mode;

    private AskedAttributes(Path path, Map<String, Object> of) {
        this.path = path;
        this.of = of;
        this.mode = (Integer) of.get("mode");
    }

    /** Asks now, in one call of the system. */
    static AskedAttributes of(Path path, LinkOption... options) throws IOException {
        return new AskedAttributes(path, Files.readAttributes(path, WANTED, options));
    }

    @Override
    public FileTime lastModifiedTime() {
        return (FileTime) of.get("lastModifiedTime");
    }

    @Override
    public FileTime lastAccessTime() {
        return (FileTime) of.get("lastAccessTime");
    }

    @Override
    public FileTime creationTime() {
        return (FileTime) of.get("creationTime");
    }

    @Override
    public boolean isRegularFile() {
        return (mode & FORMAT) == FILE;
    }

    @Override
    public boolean isDirectory() {
        return (mode & FORMAT) == DIRECTORY;
    }

    @Override
    public boolean isSymbolicLink() {
        return (mode & FORMAT) == SYMLINK;
    }

    @Override
    public boolean isOther() {
        return !isRegularFile() && !isDirectory() && !isSymbolicLink();
    }

    @Override
    public long size() {
        return (Long) of.get("size");
    }

    @Override
    public Attributes.Key fileKey() {
        return new Attributes.Key((Long) of.get("dev"), (Long) of.get("ino"));
    }

    @Override
    public Set<PosixFilePermission> permissions() {
        return Attributes.permissions(mode);
    }

    @Override
    public UserPrincipal owner() {
        return Principals.owner((Integer) of.get("uid"), () -> path);
    }

    @Override
    public GroupPrincipal group() {
        return Principals.group((Integer) of.get("gid"), () -> path);
    }
}
