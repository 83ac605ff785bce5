// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Called as Scan WAY MODEL ROUNDS PATH; the answer is described in ../README.md.
// Dynamic Groovy as the article has it: no type is checked before it is needed.

import groovy.io.FileType
import groovy.io.FileVisitResult

import java.nio.file.DirectoryIteratorException
import java.nio.file.Files
import java.nio.file.LinkOption
import java.nio.file.Path
import java.nio.file.attribute.BasicFileAttributes

class Scan {
    static boolean failed

    static void main(String[] arguments) {
        def (way, model, rounds, path) = arguments
        def ways = ['each-file-recurse': this.&eachFileRecurse, traverse: this.&traverse,
                    'each-file': this.&eachFile, 'path-each-file': this.&pathEachFile]
        def walk = ways[way]
        rounds.toInteger().times {
            long begin = System.nanoTime()
            def found = walk(path, model)
            long nanoseconds = System.nanoTime() - begin
            println "$nanoseconds ${found.join(' ')}"
        }
        System.exit(failed ? 1 : 0)
    }

    static eachFileRecurse(String path, String model) {
        int countFiles = 0
        int countDirs = 0
        long totalSize = 0
        boolean sizes = model == 'size'
        // As printed, without a question of ours: the library enters links to directories, and does not end at
        // one that leads upwards.
        new File(path).eachFileRecurse(FileType.ANY) { item ->
            if (item.isDirectory()) {
                countDirs++
            } else {
                countFiles++
                if (sizes) {
                    totalSize += item.size()
                }
            }
        }
        [countFiles, countDirs, totalSize]
    }

    static traverse(String path, String model) {
        int countFiles = 0
        int countDirs = 0
        long totalSize = 0
        boolean sizes = model == 'size'
        def skipLinks = { isLink(it) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE }
        new File(path).traverse(type: FileType.ANY, preDir: skipLinks) { item ->
            if (item.isDirectory() && !isLink(item)) {
                checkReadable(item)
                countDirs++
            } else {
                countFiles++
                if (sizes && !item.isDirectory()) {
                    totalSize += item.size()
                }
            }
        }
        [countFiles, countDirs, totalSize]
    }

    static eachFile(String path, String model) {
        int countFiles = 0
        int countDirs = 0
        long totalSize = 0
        boolean sizes = model != 'count'
        boolean enters = model != 'directory'
        def scan
        scan = { File directory ->
            directory.eachFile { item ->
                if (!item.isDirectory()) {
                    countFiles++
                    if (sizes) {
                        totalSize += item.size()
                    }
                } else if (isLink(item)) {
                    countFiles++
                } else {
                    countDirs++
                    if (enters) {
                        checkReadable(item)
                        scan(item)
                    }
                }
            }
        }
        scan(new File(path))
        [countFiles, countDirs, totalSize]
    }

    static pathEachFile(String path, String model) {
        int countFiles = 0
        int countDirs = 0
        long totalSize = 0
        long mtimeSeconds = 0
        boolean sizes = model != 'count'
        boolean enters = model != 'directory'
        def records = model == 'records' ? [] : null
        def scan
        scan = { Path directory ->
            try {
                directory.eachFile { item ->
                    def attributes = Files.readAttributes(item, BasicFileAttributes, LinkOption.NOFOLLOW_LINKS)
                    if (attributes.directory) {
                        countDirs++
                    } else {
                        countFiles++
                        if (sizes && attributes.regularFile) {
                            totalSize += attributes.size()
                        }
                    }
                    if (records != null) {
                        records << [item, attributes]
                        mtimeSeconds += attributes.lastModifiedTime().toInstant().epochSecond
                    }
                    if (enters && attributes.directory) {
                        scan(item)
                    }
                }
            } catch (IOException | DirectoryIteratorException e) {
                fail("$directory: $e")
            }
        }
        scan(Path.of(path))
        records == null ? [countFiles, countDirs, totalSize] : [countFiles, countDirs, totalSize, mtimeSeconds]
    }

    // The walks over File pass over a directory that they cannot list without a word.
    private static checkReadable(File directory) {
        if (!directory.canRead()) {
            fail("$directory: cannot be listed")
        }
    }

    private static fail(GString message) {
        failed = true
        System.err.println message
    }

    private static boolean isLink(File file) {
        Files.isSymbolicLink(file.toPath())
    }
}
