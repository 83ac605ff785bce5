// SPDX-License-Identifier: MIT OR Apache-2.0

// Words for a node: in the table, on the map, under the pointer, and for a voice.

import type { Facts } from "./facts";
import { ownerName } from "./grouping";
import { count, counted, moment } from "./locale";
import { shownName } from "./name";
import { RegroupedTree } from "./regrouped";
import { share } from "./share";
import { size, spokenSize } from "./size";
import type { Ages } from "./filter";
import { mostOf } from "./sums";
import { bytesOf, Flag, isContainer, Kind, NO_NODE, NONE_32, NONE_8, type Measure, type Tree } from "./tree";

export function label(tree: Tree, node: number): string {
  const name = tree.nameBytes(node);
  if (name.length > 0) return shownName(name);
  switch (tree.kind(node)) {
    case Kind.Others: return smallerItems(tree.entries(node));
    case Kind.Own: return "the directory itself";
    case Kind.Free: return "free space";
    default: return "all roots";
  }
}

export function smallerItems(entries: bigint): string {
  return counted(entries, "smaller item", "smaller items");
}

/** A size that is a lower bound says so. */
export function sizeOf(tree: Tree, node: number, measure: Measure): string {
  const text = size(bytesOf(tree, node, measure));
  return tree.flags(node) & Flag.Incomplete ? `≥ ${text}` : text;
}

/** What is below: `5 children`. */
export function contents(tree: Tree, node: number): string {
  const below = tree.childCount(node);
  if (below === 0) return counted(tree.entries(node) - 1n, "entry below", "entries below");
  const first = tree.firstChild(node);
  let children = 0;
  let others = 0n;
  for (let child = first; child < first + below; child++) {
    const kind = tree.kind(child);
    if (kind === Kind.Others) others += tree.entries(child);
    else if (kind !== Kind.Own) children += 1;
  }
  const text = counted(children, "child", "children");
  return others === 0n ? text : `${text} and ${smallerItems(others)}`;
}

/** `usr, 2.40 gibibytes, 31 % of the total, 5 children` */
export function spoken(tree: Tree, node: number, measure: Measure, view: number, whole: string): string {
  const bytes = bytesOf(tree, node, measure);
  const parts = [
    label(tree, node),
    spokenSize(bytes),
    `${share(bytes, bytesOf(tree, view, measure))} of ${whole}`,
  ];
  if (isContainer(tree, node)) parts.push(contents(tree, node));
  parts.push(...remarks(tree, node));
  return parts.join(", ");
}

export function remarks(tree: Tree, node: number): string[] {
  const flags = tree.flags(node);
  const said: string[] = [];
  if (flags & Flag.Unreadable) said.push("could not be read");
  else if (flags & Flag.Incomplete) said.push("a lower bound: something below could not be read");
  if (flags & Flag.Excluded) said.push("excluded");
  if (flags & Flag.OtherFileSystem) said.push("another file system");
  if (flags & Flag.CountedElsewhere) said.push("a hard link: its bytes count under another name");
  return said;
}

export function kindName(tree: Tree, node: number): string {
  switch (tree.kind(node)) {
    case Kind.Directory: return tree.origin(node) === NO_NODE ? "group" : "directory";
    case Kind.File: return "file";
    case Kind.Link: return "link";
    case Kind.Other: return "special file";
    case Kind.Others: return "the rest of a directory";
    case Kind.Own: return "the blocks of a directory itself";
    case Kind.Free: return "free space";
    case Kind.AllRoots: return "all roots";
  }
}

/** The facts about a node, as pairs. `whole` is the name of all that the view has. */
export function details(
  tree: Tree, node: number, facts: Facts, view: number, whole: string, measure: Measure, ages: Ages,
): [name: string, value: string][] {
  const exact = (bytes: bigint) => `${size(bytes)} (${count(bytes)} B)`;
  const pairs: [string, string][] = [
    ["disk", exact(tree.allocated(node))],
    ["apparent", exact(tree.apparent(node))],
    ["share", `${share(bytesOf(tree, node, measure), bytesOf(tree, view, measure))} of ${whole}`],
  ];
  if (tree.entries(node) > 1n) pairs.push(["entries", count(tree.entries(node))]);
  const newest = tree.newest(node);
  if (newest !== undefined) pairs.push([isContainer(tree, node) ? "newest" : "modified", moment(newest)]);
  const isGroup = isContainer(tree, node) || tree.kind(node) === Kind.Others;
  // The program counted directories of the scan; what others have most of is counted here.
  const isMade = isGroup && tree instanceof RegroupedTree;
  const ownerAt = isMade ? mostOf(tree, node, "owner", ages) ?? NONE_32 : tree.owner(node);
  if (facts.owners[ownerAt] !== undefined) pairs.push([isGroup ? "most owned by" : "owner", ownerName(facts, ownerAt)]);
  const category = facts.categories[isMade ? mostOf(tree, node, "category", ages) ?? NONE_8 : tree.category(node)];
  if (category !== undefined) pairs.push([isGroup ? "most of it" : "category", category.label]);
  return pairs;
}
