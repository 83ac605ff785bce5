// SPDX-License-Identifier: MIT OR Apache-2.0

/** What is asked; the names are those of the command line. */
enum Model {
    COUNT, SIZE, RECORDS, DIRECTORY;

    boolean enters() {
        return this != DIRECTORY;
    }

    boolean wantsSizes() {
        return this != COUNT;
    }

    /** The depth that the walkers of java.nio.file take. */
    int depth() {
        return enters() ? Integer.MAX_VALUE : 1;
    }

    /** For the ways whose library gives no more than a size with a name. */
    void refuseRecords() {
        if (this == RECORDS) {
            throw new IllegalArgumentException("records are not kept by this way");
        }
    }
}
