// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;

/** How an entry of an open directory is asked for its attributes. */
enum StatBy {
    /** lstat: the kernel looks up every directory of the path again. */
    PATH {
        @Override
        BasicFileAttributes attributes(DirectoryStream<Path> directory, Path entry) throws IOException {
            return Files.readAttributes(entry, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        }
    },

    /** fstatat, which every directory stream of a Unix offers under another type. */
    NAME {
        @Override
        BasicFileAttributes attributes(DirectoryStream<Path> directory, Path entry) throws IOException {
            return ((SecureDirectoryStream<Path>) directory)
                    .getFileAttributeView(entry.getFileName(), BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .readAttributes();
        }
    };

    abstract BasicFileAttributes attributes(DirectoryStream<Path> directory, Path entry) throws IOException;
}
