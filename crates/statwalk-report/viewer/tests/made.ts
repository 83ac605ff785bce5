// SPDX-License-Identifier: MIT OR Apache-2.0

// The data of a made report without a page.

import { parseFacts } from "../src/facts";
import type { Provider } from "../src/provider";
import { BlockTree, type Tree } from "../src/tree";
import { blocksOf, report, type Node } from "./sample";

export function providerOf(root: Node): Provider {
  const blocks = blocksOf(root);
  return {
    facts: async () => parseFacts(JSON.stringify(report(root).facts)),
    block: async (index) => blocks[index]!.slice().buffer as ArrayBuffer,
  };
}

export const treeOf = (root: Node): Promise<BlockTree> => BlockTree.from(providerOf(root));

export function* nodesBelow(tree: Tree, node: number): Iterable<number> {
  const stack = [node];
  while (stack.length > 0) {
    const at = stack.pop()!;
    yield at;
    const first = tree.firstChild(at);
    for (let child = first; child < first + tree.childCount(at); child++) stack.push(child);
  }
}
