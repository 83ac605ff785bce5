// SPDX-License-Identifier: MIT OR Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBlock } from "../src/block";
import { childNamed, nearest, pathBytes, pathOf } from "../src/path";
import { Kind, type BlockTree } from "../src/tree";
import { nodesBelow, providerOf, treeOf } from "./made";
import { all, bigTree, block, directory, file, hostileTree, type Node } from "./sample";
import { BlockTree as Blocks } from "../src/tree";

/** A node and all below it are the made ones. */
async function isSame(tree: BlockTree, node: number, made: Node): Promise<void> {
  await tree.open(node);
  assert.deepEqual(tree.nameBytes(node), made.name);
  assert.equal(tree.kind(node), made.kind);
  assert.equal(tree.flags(node), made.flags ?? 0);
  assert.equal(tree.allocated(node), made.allocated);
  assert.equal(tree.apparent(node), made.apparent);
  assert.equal(tree.weight(node, "allocated"), Number(made.allocated));
  assert.equal(tree.weight(node, "apparent"), Number(made.apparent));
  assert.equal(tree.entries(node), made.entries);
  assert.equal(tree.newest(node), made.newest);
  assert.equal(tree.owner(node), made.owner);
  assert.equal(tree.category(node), made.category);
  assert.equal(tree.ending(node), made.ending);
  assert.equal(tree.childCount(node), made.children.length);
  for (const [index, child] of made.children.entries()) {
    const at = tree.firstChild(node) + index;
    assert.equal(tree.parent(at), node);
    await isSame(tree, at, child);
  }
}

test("a tree is read as it was written", async () => {
  for (const made of [hostileTree(), bigTree(2000, 3), directory("/", [file("big", 2n ** 70n + 5n)])]) {
    const tree = await treeOf(made);
    await isSame(tree, tree.root, made);
  }
});

test("blocks open one by one, and small directories share one", async () => {
  const apart = (name: string, count: number) => ({
    ...directory(name, Array.from({ length: count }, (_, index) => file(`${name}-${index}`, 4096))),
    isApart: true,
  });
  const nested = { ...directory("nested", [apart("deep", 2000), file("x", 1)]), isApart: true };
  const made = directory("/srv", [apart("large", 3000), apart("small", 3), apart("tiny", 2), nested]);
  const read: number[] = [];
  const provider = providerOf(made);
  const tree = await Blocks.from({
    facts: provider.facts,
    block: (index) => { read.push(index); return provider.block(index); },
  });
  assert.deepEqual(read, [0]);
  const small = childNamed(tree, tree.root, new TextEncoder().encode("small"));
  assert.ok(tree.isClosed(small));
  assert.equal(tree.childCount(small), 0);
  await Promise.all([tree.open(small), tree.open(small)]);
  assert.equal(read.length, 2);
  const tiny = childNamed(tree, tree.root, new TextEncoder().encode("tiny"));
  assert.ok(!tree.isClosed(tiny), "it is in the same block");
  await isSame(tree, tree.root, made);
});

test("a cut or wrong block is refused", () => {
  const good = block(hostileTree());
  assert.throws(() => decodeBlock(good.slice(0, 50).buffer as ArrayBuffer));
  assert.throws(() => decodeBlock(good.slice(0, good.length - 500).buffer as ArrayBuffer));
  const text = new TextDecoder("latin1").decode(good);
  for (const [from, to] of [["\"owner\"", "\"0wner\""], ["\"nodes\":", "\"nodes\":1"]] as const) {
    const bytes = Buffer.from(text, "latin1");
    bytes.write(to, text.indexOf(from), "latin1");
    assert.throws(() => decodeBlock(Uint8Array.from(bytes).buffer as ArrayBuffer));
  }
});

test("each path leads to its node", async () => {
  const made = hostileTree();
  const tree = await treeOf(made);
  const seen = new Set<string>();
  for (const node of nodesBelow(tree, tree.root)) {
    if (tree.kind(node) > Kind.Other) continue;
    const path = pathOf(tree, node);
    seen.add(Buffer.from(path).toString("hex"));
    assert.deepEqual(nearest(tree, path), { node, isExact: true }, Buffer.from(path).toString());
  }
  const expected = all(made).filter(({ node }) => node.kind < 4);
  assert.deepEqual(seen, new Set(expected.map(({ path }) => Buffer.from(path).toString("hex"))));
  const elsewhere = pathBytes({ text: "/srv/elsewhere" });
  assert.deepEqual(nearest(tree, elsewhere), { node: tree.root, isExact: false });
});

test("a path of the root directory has one slash", async () => {
  const tree = await treeOf(directory("/", [directory("usr", [file("x", 1)])]));
  const x = nearest(tree, pathBytes({ text: "/usr/x" }));
  assert.ok(x.isExact);
  assert.equal(new TextDecoder().decode(pathOf(tree, x.node)), "/usr/x");
});
