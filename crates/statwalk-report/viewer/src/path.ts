// SPDX-License-Identifier: MIT OR Apache-2.0

// Paths as bytes: of nodes, and from the facts to nodes.

import type { PathText } from "./facts";
import { fromBase64 } from "./inline";
import { shownName, shownText, toBytes } from "./name";
import { Kind, NO_NODE, type Tree } from "./tree";

const SLASH = 0x2f;

/** A path or a name of the facts, as a page can show it. */
export function shownPath(path: PathText): string {
  return path.raw === undefined ? shownText(path.text) : shownName(pathBytes(path));
}

export function pathBytes(path: PathText): Uint8Array {
  return path.raw === undefined ? toBytes(path.text) : fromBase64(path.raw);
}

/** The nodes from the root to this one. */
export function wayTo(tree: Tree, node: number): number[] {
  const way = [];
  for (let at = node; at !== NO_NODE; at = tree.parent(at)) way.push(at);
  return way.reverse();
}

/**
 * The path of a node of the scan. The rest of a directory and its own blocks have the path of
 * the directory.
 */
export function pathOf(tree: Tree, node: number): Uint8Array {
  const names = wayTo(tree, node)
    .filter((at) => tree.kind(at) <= Kind.Other)
    .map((at) => tree.nameBytes(at));
  return joined(names);
}

export function joined(names: Uint8Array[]): Uint8Array {
  const bytes: number[] = [];
  for (const name of names) {
    if (bytes.length > 0 && bytes[bytes.length - 1] !== SLASH) bytes.push(SLASH);
    for (const byte of name) bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** The node of a path, or of the nearest directory above it that the tree has. */
export function nearest(tree: Tree, path: Uint8Array): { node: number; isExact: boolean } {
  const roots = tree.kind(tree.root) === Kind.AllRoots ? childrenOf(tree, tree.root) : [tree.root];
  for (const root of roots) {
    const rest = below(tree.nameBytes(root), path);
    if (rest === undefined) continue;
    let node = root;
    for (const name of split(rest)) {
      const child = childNamed(tree, node, name);
      if (child === NO_NODE) return { node, isExact: false };
      node = child;
    }
    return { node, isExact: true };
  }
  return { node: tree.root, isExact: false };
}

function* childrenOf(tree: Tree, node: number): Iterable<number> {
  const first = tree.firstChild(node);
  for (let index = 0; index < tree.childCount(node); index++) yield first + index;
}

export function childNamed(tree: Tree, node: number, name: Uint8Array): number {
  for (const child of childrenOf(tree, node)) {
    const kind = tree.kind(child);
    if (kind !== Kind.Others && kind !== Kind.Own && isSame(tree.nameBytes(child), name)) {
      return child;
    }
  }
  return NO_NODE;
}

/** What follows the root in a path, without a slash at its begin. */
function below(root: Uint8Array, path: Uint8Array): Uint8Array | undefined {
  if (!isSame(root, path.subarray(0, root.length))) return undefined;
  const rest = path.subarray(root.length);
  if (rest.length === 0) return rest;
  if (rest[0] === SLASH) return rest.subarray(1);
  return root[root.length - 1] === SLASH ? rest : undefined;
}

function split(path: Uint8Array): Uint8Array[] {
  const names = [];
  let start = 0;
  for (let at = 0; at <= path.length; at++) {
    if (at < path.length && path[at] !== SLASH) continue;
    if (at > start) names.push(path.subarray(start, at));
    start = at + 1;
  }
  return names;
}

export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
