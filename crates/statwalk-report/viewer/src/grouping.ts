// SPDX-License-Identifier: MIT OR Apache-2.0

// The ways to group the same bytes, and their groups.

import { NOT_FILES, type Facts } from "./facts";
import type { Ages } from "./filter";
import { shownPath } from "./path";
import type { Group, Regrouping } from "./regrouped";
import { NONE_32, NONE_8, type Tree } from "./tree";

export type Grouping = "tree" | "category" | "owner" | "age";
export const GROUPINGS: Grouping[] = ["tree", "category", "owner", "age"];

/**
 * The groups of a directory. Of the whole scan the program counted their sums; of another
 * directory the file knows them without what it does not tell apart.
 */
export function groupsOf(
  by: Exclude<Grouping, "tree">,
  tree: Tree,
  view: number,
  facts: Facts,
  ages: Ages,
  isWanted?: (node: number) => boolean,
): Regrouping {
  const isWhole = view === tree.root && isWanted === undefined;
  const groups = groupsBy(by, facts, isWhole);
  const notKnown = facts.owners.findIndex(({ id, name }) => id === undefined && name === undefined);
  const groupOf = {
    category: (node: number) => {
      const category = tree.category(node);
      return category === NONE_8 ? groups.length - 1 : category;
    },
    owner: (node: number) => {
      const owner = tree.owner(node);
      return owner === NONE_32 ? notKnown : owner;
    },
    age: (node: number) => ages.of(tree, node),
  }[by];
  return {
    groups,
    groupOf: isWanted === undefined ? groupOf : (node) => (isWanted(node) ? groupOf(node) : undefined),
    mixed: isWanted === undefined ? "smaller items of several kinds" : undefined,
  };
}

function groupsBy(by: Exclude<Grouping, "tree">, facts: Facts, isWhole: boolean): Group[] {
  const sums = (group: { allocated: bigint; apparent: bigint; newest_s?: number }, entries: bigint) =>
    isWhole ? { allocated: group.allocated, apparent: group.apparent, entries, newest: group.newest_s } : undefined;
  switch (by) {
    case "category":
      return facts.categories.map((category, index) => ({
        label: category.label,
        category: index,
        sums: sums(category, category.files),
      }));
    case "owner":
      return facts.owners.map((owner, index) => ({
        label: ownerName(facts, index),
        owner: index,
        sums: sums(owner, owner.entries),
      }));
    case "age":
      return facts.ages.map((age, index) => ({
        label: age.label ?? NOT_FILES,
        age: index,
        sums: sums(age, age.files),
      }));
  }
}

export function ownerName(facts: Facts, index: number): string {
  const owner = facts.owners[index];
  if (owner?.name !== undefined) return shownPath(owner.name);
  return owner?.id === undefined ? "unknown" : String(owner.id);
}
