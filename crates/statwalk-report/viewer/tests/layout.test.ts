// SPDX-License-Identifier: MIT OR Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { hierarchy, treemap } from "d3-hierarchy";
import { Cell, each, Layout, type LayoutOptions } from "../src/layout";
import { squarify } from "../src/squarify";
import type { Tree } from "../src/tree";
import { nodesBelow, treeOf } from "./made";
import { bigTree, directory, file, random, type Node } from "./sample";
import { job, slownessOf } from "./slowness";

const plain: LayoutOptions = {
  width: 1600, height: 900, measure: "allocated", areaMin: 9, strip: () => 0, border: 0,
};
const framed: LayoutOptions = {
  ...plain, strip: (width, height) => (width > 70 && height > 44 ? 17 : 0), border: 2,
};

test("squarify places as d3 does", () => {
  const next = random(1);
  for (let round = 0; round < 500; round++) {
    const weights = Float64Array.from({ length: 1 + Math.floor(next() * 40) }, () => Math.floor(Math.exp(next() * 12)));
    weights.sort().reverse();
    const [width, height] = [1 + next() * 2000, 1 + next() * 1000];
    const places: number[][] = [];
    squarify(weights, weights.length, 0, 0, width, height, (index, ...edges) => { places[index] = edges; });
    const root = hierarchy<{ children?: { weight: number }[]; weight?: number }>(
      { children: Array.from(weights, (weight) => ({ weight })) }).sum((node) => node.weight ?? 0);
    const laid = treemap<{ weight?: number }>().size([width, height])(root as never);
    laid.children!.forEach(({ x0, y0, x1, y1 }, index) => {
      [x0, y0, x1, y1].forEach((edge, at) =>
        assert.ok(Math.abs(edge - places[index]![at]!) < 1e-6, `round ${round}, ${index}: ${edge} ${places[index]}`));
    });
  }
});

/** Each pixel of a frame belongs to one cell; the owner of each pixel. */
function owners(layout: Layout): Int32Array {
  const { width, height } = layout.options;
  const pixels = new Int32Array(width * height).fill(-1);
  for (let index = 0; index < layout.count; index++) {
    const parent = layout.parent[index]!;
    for (let y = layout.y0[index]!; y < layout.y1[index]!; y++) {
      for (let x = layout.x0[index]!; x < layout.x1[index]!; x++) {
        if (pixels[y * width + x] !== parent) assert.fail(`overlap at ${x} ${y}`);
        pixels[y * width + x] = index;
      }
    }
  }
  return pixels;
}

function sumOfCells(layout: Layout): bigint {
  let sum = 0n;
  for (let index = 0; index < layout.count; index++) {
    if (layout.cell[index] !== Cell.Frame) sum += layout.bytes(index);
  }
  return sum;
}

const made = Promise.all([bigTree(3000, 3), bigTree(40_000, 5)].map(treeOf));
const trees = (): Promise<Tree[]> => made;

test("cells tile without gap or overlap", async () => {
  for (const tree of await trees()) {
    for (const [width, height] of [[1600, 900], [390, 500], [37, 23]] as const) {
      const layout = new Layout(tree, tree.root, { ...plain, width, height });
      const pixels = owners(layout);
      // Without strips and borders nothing of a frame is left.
      for (const owner of pixels) if (layout.cell[owner] === Cell.Frame) assert.fail("a gap");
      const withStrips = new Layout(tree, tree.root, { ...framed, width, height });
      owners(withStrips).forEach((owner) => {
        if (withStrips.cell[owner] === Cell.Frame && withStrips.strip[owner] === 0) assert.fail("a gap");
      });
    }
  }
});

test("areas follow the bytes", async () => {
  for (const tree of await trees()) {
    const layout = new Layout(tree, tree.root, plain);
    const { width, height } = plain;
    const total = tree.weight(tree.root, "allocated");
    for (let index = 0; index < layout.count; index++) {
      const [w, h] = [layout.x1[index]! - layout.x0[index]!, layout.y1[index]! - layout.y0[index]!];
      const ideal = (Number(layout.bytes(index)) / total) * width * height;
      // Each edge is at most half a pixel off, in the cell and in each one around it.
      const off = (layout.depth[index]! + 1) * (w + h + 2);
      assert.ok(Math.abs(w * h - ideal) <= off, `${index}: ${w}x${h} for ${ideal}`);
    }
  }
});

test("cells of every view sum to its bytes, and no entry is lost", async () => {
  for (const tree of await trees()) {
    const directories = [...nodesBelow(tree, tree.root)].filter((node) => tree.childCount(node) > 0);
    for (const view of directories.slice(0, 300)) {
      for (const measure of ["allocated", "apparent"] as const) {
        for (const areaMin of [9, 64, 4000]) {
          const layout = new Layout(tree, view, { ...framed, measure, areaMin });
          const bytes = measure === "allocated" ? tree.allocated(view) : tree.apparent(view);
          assert.equal(sumOfCells(layout), bytes);
          for (const [, rest] of layout.rests) {
            const entries = [...each(rest.children)].reduce((sum, node) => sum + tree.entries(node), 0n);
            assert.equal(rest.entries, entries);
          }
        }
      }
    }
  }
});

test("cells sum exactly beyond 2^53 and 2^64", async () => {
  const big = 2n ** 64n - 3n;
  const tree = await treeOf(directory("/", [file("a", big), file("b", big - 4n), file("c", 2n ** 53n + 1n), file("d", 7n)]));
  const layout = new Layout(tree, tree.root, plain);
  assert.equal(tree.allocated(tree.root), 2n * big - 4n + 2n ** 53n + 8n + 4096n);
  assert.equal(sumOfCells(layout), tree.allocated(tree.root));
});

test("free space is a tile of its own", async () => {
  const tree = await treeOf(directory("/", [file("a", 1 << 20)]));
  const free = tree.allocated(tree.root);
  const layout = new Layout(tree, tree.root, { ...plain, free });
  const tile = Array.from(layout.cell).indexOf(Cell.Free);
  const area = (layout.x1[tile]! - layout.x0[tile]!) * (layout.y1[tile]! - layout.y0[tile]!);
  assert.equal(area, 800 * 900);
  assert.equal(sumOfCells(layout), 2n * free);
});

test("a pixel hits the cell that is drawn there", async () => {
  const [tree] = await trees();
  const layout = new Layout(tree!, tree!.root, framed);
  const pixels = owners(layout);
  const next = random(9);
  for (let round = 0; round < 5000; round++) {
    const [x, y] = [Math.floor(next() * 1600), Math.floor(next() * 900)];
    assert.equal(layout.hit(x, y), pixels[y * 1600 + x]);
  }
  assert.equal(layout.hit(-1, 5), -1);
  assert.equal(layout.hit(1600, 5), -1);
});

test("each node has a cell, or the rest that counts it", async () => {
  const [tree] = await trees();
  const layout = new Layout(tree!, tree!.root, framed);
  for (const node of nodesBelow(tree!, tree!.root)) {
    const cell = layout.cellOf(node);
    if (layout.cell[cell] === Cell.Leaf || layout.cell[cell] === Cell.Frame) {
      const way = new Set<number>();
      for (let at = node; at !== -1; at = tree!.parent(at)) way.add(at);
      assert.ok(way.has(layout.node[cell]!));
    } else {
      const covered = new Set(each(layout.rests.get(cell)!.children));
      let at = node;
      while (at !== -1 && !covered.has(at)) at = tree!.parent(at);
      assert.notEqual(at, -1);
    }
  }
});

test("trees of unusual shapes", async () => {
  let deep: Node = file("end", 1 << 20);
  for (let depth = 0; depth < 2000; depth++) deep = directory("d", [deep]);
  const shapes = [
    deep,
    directory("/", []),
    file("/one", 12_345),
    directory("/", Array.from({ length: 5000 }, (_, index) => file(`f${index}`, 0))),
    directory("/", [file("empty", 0)], { allocated: 0n, apparent: 0n }),
  ];
  for (const shape of shapes) {
    const tree = await treeOf(shape);
    const layout = new Layout(tree, tree.root, { ...framed, width: 800, height: 600 });
    assert.equal(sumOfCells(layout), tree.allocated(tree.root));
    owners(layout);
  }
});

test("a big layout is fast", async () => {
  const tree = await treeOf(bigTree(150_000, 11));
  new Layout(tree, tree.root, framed);
  let took = Infinity;
  // Other programs run beside the tests, but not in each moment.
  for (let attempt = 0; attempt < 6 && took >= 500; attempt++) {
    const start = performance.now();
    const layout = new Layout(tree, tree.root, framed);
    took = Math.min(took, (performance.now() - start) / slownessOf(job()));
    console.log(`# ${layout.count} cells in ${took.toFixed(0)} ms`);
    assert.ok(layout.count > 5000);
  }
  assert.ok(took < 500, `${took}`);
});
