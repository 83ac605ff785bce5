// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.util.List;
import java.util.function.Consumer;

/** Before JDK 22, whose class of this name is in META-INF/versions/22 of the jar. */
final class NativeTables {
    private NativeTables() {}

    static Tables open(
            List<byte[]> roots, ScanOptions options, Consumer<EntryException> onError) {
        throw new UnsupportedOperationException(
                "statwalk needs Java 22 or newer, for the foreign function interface; this is Java "
                        + Runtime.version().feature()
                        + ". It needs the jar, too: a folder of classes has no versions");
    }
}
