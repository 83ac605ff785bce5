// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The exceptions for error numbers, beside those of the JDK. */
class EntryErrorTest {
    @TempDir
    Path tree;

    private static void alike(FileSystemException jdk, Path path, int operation, int number)
            throws IOException {
        String reason = NativeLibrary.get().reason(number);
        FileSystemException own =
                new EntryError(PathBytes.of(path), operation, number, reason).exception();
        assertEquals(jdk.getClass(), own.getClass());
        assertEquals(jdk.getMessage(), own.getMessage());
        assertEquals(jdk.getFile(), own.getFile());
        assertEquals(jdk.getReason(), own.getReason());
    }

    private interface Call {
        void run(Path path) throws IOException;
    }

    private static FileSystemException thrown(Call call, Path path) {
        return assertThrows(FileSystemException.class, () -> call.run(path));
    }

    @Test
    void theyAreThoseOfTheJdk() throws IOException {
        Call list = path -> Files.newDirectoryStream(path).close();
        Call stat = path -> Files.readAttributes(path, "size", LinkOption.NOFOLLOW_LINKS);
        Path absent = tree.resolve("absent");
        alike(thrown(list, absent), absent, EntryError.OPEN, EntryError.ENOENT);
        alike(thrown(stat, absent), absent, EntryError.STAT, EntryError.ENOENT);
        Path file = Files.createFile(tree.resolve("file"));
        alike(thrown(list, file), file, EntryError.OPEN, EntryError.ENOTDIR);
        Path in = file.resolve("in");
        alike(thrown(stat, in), in, EntryError.STAT, EntryError.ENOTDIR);
        Path loop = Files.createSymbolicLink(tree.resolve("loop"), Path.of("loop"));
        alike(thrown(list, loop), loop, EntryError.OPEN, EntryError.ELOOP);
        Path through = loop.resolve("x");
        alike(thrown(stat, through), through, EntryError.STAT, EntryError.ELOOP);
        int nameTooLong = 36;
        Path endless = tree.resolve("n".repeat(256));
        alike(thrown(stat, endless), endless, EntryError.STAT, nameTooLong);
    }

    @Test
    void theyAreRecognised() {
        byte[] path = {'/', 'x', (byte) 0xff};
        String file = "/x\ufffd";
        assertEquals(AccessDeniedException.class,
                new EntryError(path, 0, EntryError.EACCES, "words").exception().getClass());
        for (int operation = 0; operation < 3; operation++) {
            for (int number : new int[] {0, 1, 2, 5, 13, 20, 23, 24, 40, 107, 116}) {
                FileSystemException of =
                        new EntryError(path, operation, number, "words").exception();
                assertEquals(file, of.getFile());
                String message = of.getMessage();
                assertTrue(message.equals(file) || message.startsWith(file + ": words"), message);
            }
        }
    }

    @Test
    void theEndOfAScanNamesTheFirst() throws Exception {
        List<FileSystemException> errors =
                List.of(new AccessDeniedException("/a"), new NotDirectoryException("/b"));
        IncompleteScanException end = new IncompleteScanException(errors, 2_000);
        assertEquals("the scan is incomplete, with 2000 errors: AccessDeniedException: /a",
                end.getMessage());
        assertEquals("the scan is incomplete, with 0 errors",
                new IncompleteScanException(List.of(), 0).getMessage());
        // It can go to another process.
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(end);
        IncompleteScanException read = (IncompleteScanException) new ObjectInputStream(
                new ByteArrayInputStream(bytes.toByteArray())).readObject();
        assertEquals(List.of("/a", "/b"),
                read.errors().stream().map(FileSystemException::getFile).toList());
        assertEquals(end.getMessage(), read.getMessage());
    }

    @Test
    void aRootIsRefusedAtTheCall() throws IOException {
        Path loop = Files.createSymbolicLink(tree.resolve("loop"), Path.of("loop"));
        Path file = Files.createFile(tree.resolve("file"));
        for (Path path : List.of(loop, file, file.resolve("x"), tree.resolve("absent"),
                tree.resolve("n".repeat(256)))) {
            FileSystemException jdk = thrown(of -> Files.newDirectoryStream(of).close(), path);
            for (Call call : List.<Call>of(of -> Statwalk.list(of), of -> Statwalk.walk(of))) {
                FileSystemException own = thrown(call, path);
                assertEquals(jdk.toString(), own.toString());
            }
        }
        assertEquals(NoSuchFileException.class,
                thrown(of -> Statwalk.list(of), tree.resolve("absent")).getClass());
    }
}
