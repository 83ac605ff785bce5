// SPDX-License-Identifier: MIT OR Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { Ages, Filter, LowerNames, PROPERTIES, Search } from "../src/filter";
import { groupsOf } from "../src/grouping";
import { RegroupedTree } from "../src/regrouped";
import { sumsOf } from "../src/sums";
import { bytesOf, isMixed, Kind, NO_NODE, type Tree } from "../src/tree";
import { nodesBelow, providerOf, treeOf } from "./made";
import { all, bigTree, directory, file, hostileTree, rest } from "./sample";

/** Sums of children are the sum of their directory, and they come by size. */
function holdsTogether(tree: Tree): void {
  for (const node of nodesBelow(tree, tree.root)) {
    const count = tree.childCount(node);
    if (count === 0) continue;
    let allocated = 0n;
    let apparent = 0n;
    for (let child = tree.firstChild(node); child < tree.firstChild(node) + count; child++) {
      assert.equal(tree.parent(child), node);
      if (child > tree.firstChild(node)) assert.ok(tree.allocated(child - 1) >= tree.allocated(child));
      allocated += tree.allocated(child);
      apparent += tree.apparent(child);
    }
    assert.equal(allocated, tree.allocated(node));
    assert.equal(apparent, tree.apparent(node));
  }
}

for (const by of ["category", "owner", "age"] as const) {
  test(`the whole scan by ${by} has the sums of the program`, async () => {
    for (const made of [bigTree(4000, 6), hostileTree()]) {
      const provider = providerOf(made);
      const [tree, facts] = [await treeOf(made), await provider.facts()];
      const ages = new Ages(facts.ages);
      const regrouped = new RegroupedTree(tree, tree.root, groupsOf(by, tree, tree.root, facts, ages));
      holdsTogether(regrouped);
      assert.equal(regrouped.allocated(regrouped.root), tree.allocated(tree.root));
      assert.equal(regrouped.apparent(regrouped.root), tree.apparent(tree.root));
      const table = { category: facts.categories, owner: facts.owners, age: facts.ages }[by];
      const expected = table.filter(({ allocated, apparent }) => allocated > 0n || apparent > 0n);
      const first = regrouped.firstChild(regrouped.root);
      const sums = Array.from({ length: regrouped.childCount(regrouped.root) }, (_, index) =>
        regrouped.allocated(first + index)).filter((sum) => sum > 0n);
      const bySize = expected.map(({ allocated }) => allocated).filter((sum) => sum > 0n);
      assert.deepEqual(sums, bySize.sort((a, b) => (a < b ? 1 : -1)));
    }
  });

  test(`a directory by ${by} keeps what is mixed apart`, async () => {
    const made = bigTree(4000, 6);
    const facts = await providerOf(made).facts();
    const tree = await treeOf(made);
    const ages = new Ages(facts.ages);
    for (const view of nodesBelow(tree, tree.root)) {
      if (tree.childCount(view) < 5 || view === tree.root) continue;
      const regrouped = new RegroupedTree(tree, view, groupsOf(by, tree, view, facts, ages));
      holdsTogether(regrouped);
      assert.equal(regrouped.allocated(regrouped.root), tree.allocated(view));
      let mixed = 0n;
      for (const node of nodesBelow(tree, view)) if (isMixed(tree, node)) mixed += tree.allocated(node);
      let apart = 0n;
      for (const node of nodesBelow(regrouped, regrouped.root)) {
        if (regrouped.kind(node) === Kind.Others) apart += regrouped.allocated(node);
      }
      assert.equal(apart, mixed);
    }
  });
}

test("matches alone are kept, and nothing else", async () => {
  const made = directory("/srv", [
    directory("Photos", [file("a.jpg", 5000), file("b.jpg", 7000)]),
    rest(directory("mixed", [file("a photo.jpg", 90_000), file("x.c", 10), file("y.c", 11), file("photo", 9)]), 1),
    file("photo.iso", 1 << 20),
  ]);
  const tree = await treeOf(made);
  const names = new LowerNames();
  const search = new Search(tree, "photo", names);
  // As `find` counts them: a match below another, too. The name of the root and the rest have none.
  assert.equal(search.matches, 3);
  assert.equal(search.nested, 0);
  assert.equal(search.allocated, 5000n + 7000n + 4096n + 90_000n + (1n << 20n));
  const kept = new RegroupedTree(tree, tree.root, {
    groups: [{ label: "" }],
    groupOf: (node) => (search.isMatch(node) ? 0 : undefined),
  });
  holdsTogether(kept);
  assert.equal(kept.allocated(kept.root), search.allocated);
  assert.notEqual(kept.nodeOf(tree.firstChild(tree.root)), NO_NODE);
  assert.equal(new Search(tree, "Photo", names).matches, 1, "a capital makes case count");
  assert.equal(new Search(tree, "*.jpg", names).matches, 3);
  assert.equal(new Search(tree, "?.jpg", names).matches, 2);
  assert.equal(new Search(tree, "srv", names).matches, 0);
});

test("a match below another is counted, and its bytes are not counted again", async () => {
  const made = directory("/srv", [directory("photos", [
    file("photo.jpg", 5000), directory("more photos", [file("photo-2.jpg", 7000), file("text", 9000)]),
  ])]);
  const tree = await treeOf(made);
  const search = new Search(tree, "photo", new LowerNames());
  assert.deepEqual([search.matches, search.nested], [4, 3]);
  assert.equal(search.allocated, tree.allocated(tree.firstChild(tree.root)));
});

test("the newest of a group is a time of that group", async () => {
  const made = bigTree(4000, 6);
  const tree = await treeOf(made);
  const facts = await providerOf(made).facts();
  const ages = new Ages(facts.ages);
  const times = new Set(all(made).map(({ node }) => node.newest));
  for (const view of nodesBelow(tree, tree.root)) {
    if (tree.childCount(view) < 5) continue;
    const shown = new RegroupedTree(tree, view, groupsOf("age", tree, view, facts, ages));
    const first = shown.firstChild(shown.root);
    let newest = -Infinity;
    for (let group = first; group < first + shown.childCount(shown.root); group++) {
      const time = shown.newest(group);
      newest = Math.max(newest, time ?? -Infinity);
      const age = facts.ages[shown.age(group)];
      if (age === undefined || time === undefined) continue;
      assert.equal(ages.of(shown, group), shown.age(group));
      if (!age.not_files) assert.ok((age.from_s ?? -Infinity) <= time && time < (age.to_s ?? Infinity), `${age.label}: ${time}`);
      // It is that of an entry, and not a limit of the group.
      assert.ok(times.has(time), `${age.label}: ${time}`);
    }
    assert.equal(shown.newest(shown.root), Number.isFinite(newest) ? newest : undefined);
  }
});

test("the sums of groups are those of the view", async () => {
  for (const made of [bigTree(4000, 6), hostileTree()]) {
    const tree = await treeOf(made);
    const facts = await providerOf(made).facts();
    const ages = new Ages(facts.ages);
    for (const view of nodesBelow(tree, tree.root)) {
      for (const property of PROPERTIES) {
        const { groups, several } = sumsOf(tree, view, property, ages);
        for (const measure of ["allocated", "apparent"] as const) {
          const sum = [...groups.values()].reduce((sum, group) => sum + group[measure], several[measure]);
          assert.equal(sum, bytesOf(tree, view, measure));
        }
      }
    }
    // A rest of a group is of that group.
    for (const by of ["category", "owner", "age"] as const) {
      const shown = new RegroupedTree(tree, tree.root, groupsOf(by, tree, tree.root, facts, ages));
      const { groups, several } = sumsOf(shown, shown.root, by, ages);
      assert.equal(several.allocated, 0n);
      const table = { category: facts.categories, owner: facts.owners, age: facts.ages }[by];
      table.forEach(({ allocated }, value) => assert.equal(groups.get(value)?.allocated ?? 0n, allocated));
    }
  }
});

test("properties choose nodes", async () => {
  const made = bigTree(3000, 2);
  const provider = providerOf(made);
  const facts = await provider.facts();
  const tree = await treeOf(made);
  const ages = new Ages(facts.ages);
  const filter = new Filter();
  assert.ok(filter.isEmpty());
  filter.toggle("category", 2);
  filter.toggle("category", 3);
  filter.toggle("owner", 1);
  assert.ok(!filter.isEmpty());
  let count = 0;
  for (const node of nodesBelow(tree, tree.root)) {
    const expected = [2, 3].includes(tree.category(node)) && tree.owner(node) === 1;
    assert.equal(filter.hasProperties(tree, node, ages), expected);
    count += Number(expected);
  }
  assert.ok(count > 10);
  filter.toggle("category", 2);
  filter.toggle("category", 3);
  filter.toggle("owner", 1);
  assert.ok(filter.isEmpty());
});
