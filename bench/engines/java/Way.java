// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.nio.file.Path;

/** One way to walk. It keeps nothing: every call begins anew. */
interface Way {
    Tally walk(Path root, Model model) throws IOException;
}
