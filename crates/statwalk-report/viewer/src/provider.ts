// SPDX-License-Identifier: MIT OR Apache-2.0

// Where the viewer gets its data. A report has them in its page; a notebook or a server can
// bring its own provider, and the rest of the viewer stays as it is.

import type { Facts } from "./facts";

export interface Provider {
  /** The numbers beside the tree: totals, groups, errors. */
  facts(): Promise<Facts>;
  /** The bytes of a block of the tree; block 0 has its root. */
  block(index: number): Promise<ArrayBuffer>;
}
