// SPDX-License-Identifier: MIT OR Apache-2.0

import java.nio.file.Path;

/** What could not be read: said at once, and remembered for the exit status. */
final class Trouble {
    private static volatile boolean met;

    private Trouble() {
    }

    static void report(Path path, Exception reason) {
        report(path + ": " + reason);
    }

    static void report(String message) {
        met = true;
        System.err.println(message);
    }

    static boolean met() {
        return met;
    }
}
