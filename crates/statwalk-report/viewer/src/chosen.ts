// SPDX-License-Identifier: MIT OR Apache-2.0

// The nodes of chosen groups, with their sums and the directories above them.

import type { Ages, Filter, Search } from "./filter";
import { PROPERTIES } from "./filter";
import { eachLeaf } from "./sums";
import { Kind, NO_NODE, type Tree } from "./tree";

export class Chosen {
  entries = 0n;
  allocated = 0n;
  private readonly above = new Set<number>();

  constructor(tree: Tree, filter: Filter, ages: Ages, search?: Search) {
    eachLeaf(tree, tree.root, (node) => {
      const isTold = PROPERTIES.every((property) => filter.chosen[property].size === 0 || tree.tells(node, property));
      if (!isTold || !filter.hasProperties(tree, node, ages)) return;
      const origin = tree.origin(node);
      if (search !== undefined && (origin === NO_NODE || !search.isMatch(origin))) return;
      // The blocks of a directory stand for it.
      this.entries += tree.kind(node) === Kind.Own ? 1n : tree.entries(node);
      this.allocated += tree.allocated(node);
      for (let at = tree.parent(node); at !== NO_NODE && !this.above.has(at); at = tree.parent(at)) this.above.add(at);
    });
  }

  /** Whether something below the directory is chosen, as far as the file tells. */
  isAbove(directory: number): boolean {
    return this.above.has(directory);
  }
}
