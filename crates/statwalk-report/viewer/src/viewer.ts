// SPDX-License-Identifier: MIT OR Apache-2.0

// The state of the page and the ways to change it. The parts of the page show it: each change
// tells them what changed, and they ask here for the rest.

import * as address from "./address";
import { COLOURS, entriesOf, type Colour, type LegendEntry } from "./colouring";
import { usualMeasure, type Facts } from "./facts";
import { Ages, Filter, LowerNames, PROPERTIES, propertyOf, Search, type Property } from "./filter";
import { Chosen } from "./chosen";
import { label } from "./describe";
import { groupsOf, type Grouping } from "./grouping";
import { childNamed, nearest, pathBytes, pathOf, wayTo } from "./path";
import { RegroupedTree } from "./regrouped";
import { BlockTree, isContainer, Kind, NO_NODE, type Measure, type Tree } from "./tree";

/** What the reader pointed at: a node, or what the map put together in a directory. */
export interface Selection {
  node: number;
  isRest: boolean;
}

export interface Mark {
  number: number;
  node: number;
}

/** What a change is about, so that parts of the page can leave the rest alone. */
export type Change = "view" | "selection" | "colour" | "filter" | "measure" | "lit" | "options" | "hover";

export class Viewer {
  /** The tree on the page: the scan, or the same bytes regrouped. */
  shown: Tree;
  view: number;
  /** The directory of the scan that is shown or regrouped. */
  base: number;
  grouping: Grouping = "tree";
  colour: Colour = "category";
  measure: Measure;
  selection: Selection;
  hovered: Selection | undefined;
  readonly filter = new Filter();
  /** The filter whose matches alone are shown, and its search. */
  kept: Filter | undefined;
  private keptSearch: Search | undefined;
  search: Search | undefined;
  /** What the filter lights up, where it chooses groups. */
  chosen: Chosen | undefined;
  /** A group that the pointer lights up for a moment. */
  lit: { property: Property; value: number } | undefined;
  showsFree = false;
  showsMarks = true;
  readonly ages: Ages;
  readonly legends: Record<Property, LegendEntry[]>;
  marks: Mark[] = [];
  private readonly names = new LowerNames();
  private readonly listeners: ((changes: Set<Change>) => void)[] = [];

  constructor(
    readonly tree: BlockTree,
    readonly facts: Facts,
  ) {
    this.shown = tree;
    this.measure = usualMeasure(facts);
    this.view = tree.root;
    this.base = tree.root;
    this.selection = { node: tree.root, isRest: false };
    this.ages = new Ages(facts.ages);
    this.legends = {
      category: entriesOf("category", facts),
      ending: entriesOf("ending", facts),
      owner: entriesOf("owner", facts),
      age: entriesOf("age", facts),
    };
    this.mark();
  }

  listen(listener: (changes: Set<Change>) => void): void {
    this.listeners.push(listener);
  }

  private tell(...changes: Change[]): void {
    const set = new Set(changes);
    for (const listener of this.listeners) listener(set);
  }

  // The view.

  /** Shows a directory; the browser's Back returns from it. */
  zoom(node: number, isRecorded = true): void {
    if (!isContainer(this.shown, node)) return;
    const before = this.view;
    this.view = node;
    if (this.shown === this.tree) this.base = node;
    // What was left stays in hand, so that a way out and in again is one key each.
    const came = wayTo(this.shown, before);
    const at = came.indexOf(node);
    const next = at >= 0 ? came[at + 1] : undefined;
    this.selection = { node: next ?? node, isRest: false };
    this.hovered = undefined;
    if (isRecorded) this.record();
    this.tell("view", "selection");
    if (this.shown.isClosed(node)) void this.load([node]);
  }

  /** Shows the directory above. */
  out(): void {
    const parent = this.shown.parent(this.view);
    if (parent !== NO_NODE) this.zoom(parent);
    else if (this.kept !== undefined) this.unkeep();
    else if (this.grouping !== "tree") this.regroup("tree");
  }

  canGoOut(): boolean {
    return this.shown.parent(this.view) !== NO_NODE || this.grouping !== "tree" || this.kept !== undefined;
  }

  regroup(grouping: Grouping): void {
    if (grouping === this.grouping) return;
    this.grouping = grouping;
    this.rebuild();
    this.record();
    this.tell("view", "selection", "filter");
  }

  /** Makes the shown tree anew from the scan, the grouping and what is kept. */
  private rebuild(): void {
    const { tree, base, kept } = this;
    const selected = this.shown.origin(this.selection.node);
    const isWanted = kept === undefined ? undefined : this.testOf(kept);
    if (this.grouping !== "tree") {
      this.shown = new RegroupedTree(tree, base, groupsOf(this.grouping, tree, base, this.facts, this.ages, isWanted));
    } else if (isWanted !== undefined) {
      this.shown = new RegroupedTree(tree, base, {
        groups: [{ label: "" }],
        groupOf: (node) => (isWanted(node) ? 0 : undefined),
      });
    } else {
      this.shown = tree;
    }
    this.view = this.shown === tree ? base : this.shown.root;
    const found = this.nodeOf(selected);
    this.selection = { node: found === NO_NODE ? this.view : found, isRest: false };
    this.hovered = undefined;
    this.choose();
    this.mark();
  }

  /** Finds anew what the filter lights up. */
  private choose(): void {
    const { filter, shown, search, ages } = this;
    this.chosen = filter.hasGroups() ? new Chosen(shown, filter, ages, search) : undefined;
  }

  /** The node on the page that stands for a node of the scan. */
  nodeOf(origin: number): number {
    return this.shown instanceof RegroupedTree ? this.shown.nodeOf(origin) : origin;
  }

  /** Reads the blocks of these directories, as long as they are wanted. */
  async load(nodes: number[], isWanted = () => true): Promise<void> {
    const { shown } = this;
    for (const node of nodes) {
      await shown.open(node);
      // Each takes some milliseconds: frames and keys come between.
      if (nodes.length > 1) await new Promise((done) => setTimeout(done));
      if (!isWanted()) return;
    }
    if (this.filter.text !== "") this.search = new Search(this.tree, this.filter.text, this.names);
    this.choose();
    this.tell("view", "filter");
  }

  // What the reader points at.

  select(node: number, isRest = false): void {
    if (this.selection.node === node && this.selection.isRest === isRest) return;
    this.selection = { node, isRest };
    this.tell("selection");
  }

  hover(selection: Selection | undefined): void {
    const same = this.hovered?.node === selection?.node && this.hovered?.isRest === selection?.isRest;
    if (same) return;
    this.hovered = selection;
    this.tell("hover");
  }

  /** Selects what stands for a node of the scan: in the view if that holds it, since a reader who compares files does not want to jump. */
  point(origin: number): void {
    const node = this.nodeOf(origin);
    if (node !== NO_NODE && wayTo(this.shown, node).includes(this.view)) return this.select(node);
    this.showScan();
    this.view = this.base = this.tree.root;
    this.record();
    this.selection = { node: origin, isRest: false };
    this.tell("view", "selection", "filter");
  }

  /** Shows a directory of the scan, or that of a file with the file selected. */
  openAt(origin: number): void {
    const { tree } = this;
    this.showScan();
    const isOpen = isContainer(tree, origin);
    this.zoom(isOpen ? origin : tree.parent(origin));
    if (!isOpen) this.select(origin);
  }

  /** Leaves groups, and what is kept. */
  private showScan(): void {
    if (this.kept === undefined && this.grouping === "tree") return;
    this.kept = undefined;
    this.grouping = "tree";
    this.rebuild();
  }

  /** Selects the node of a path of the facts, in its directory, as far as the tree has it. */
  async reveal(path: { text: string; raw?: string }): Promise<boolean> {
    this.showScan();
    const bytes = pathBytes(path);
    let found = nearest(this.tree, bytes);
    while (!found.isExact && this.tree.isClosed(found.node)) {
      await this.tree.open(found.node);
      found = nearest(this.tree, bytes);
    }
    // In the view if that holds it: a reader who compares files does not want to jump.
    if (!wayTo(this.tree, found.node).includes(this.view)) {
      this.view = this.base = this.tree.root;
      this.record();
    }
    this.selection = { node: found.node, isRest: false };
    this.tell("view", "selection", "filter");
    return found.isExact;
  }

  // Colours and filters.

  setColour(colour: Colour): void {
    this.colour = colour;
    this.record(true);
    this.tell("colour");
  }

  nextColour(): void {
    this.setColour(COLOURS[(COLOURS.indexOf(this.colour) + 1) % COLOURS.length]!);
  }

  setMeasure(measure: Measure): void {
    this.measure = measure;
    this.record(true);
    this.tell("measure");
  }

  light(property?: Property, value?: number): void {
    this.lit = property === undefined || value === undefined ? undefined : { property, value };
    this.tell("lit");
  }

  toggle(property: Property, value: number): void {
    this.filter.toggle(property, value);
    this.lit = undefined;
    this.choose();
    this.tell("filter");
  }

  /** Lights these groups, and no others. */
  chooseOnly(property: Property, values: number[]): void {
    this.filter.clear();
    this.search = undefined;
    for (const value of values) this.filter.toggle(property, value);
    this.lit = undefined;
    this.choose();
    this.tell("filter");
  }

  find(text: string): void {
    if (text === this.filter.text) return;
    this.filter.text = text;
    this.search = text === "" ? undefined : new Search(this.tree, text, this.names);
    this.choose();
    this.tell("filter");
  }

  clearFilter(): void {
    this.filter.clear();
    this.search = this.chosen = undefined;
    this.lit = undefined;
    this.tell("filter");
  }

  /** Shows the matches of the filter alone. */
  keep(): void {
    if (this.filter.isEmpty()) return;
    this.kept = this.filter.copy();
    this.rebuild();
    this.filter.clear();
    this.search = this.chosen = undefined;
    this.tell("view", "selection", "filter");
  }

  /** Whether the kept search found the node itself, or one above it. */
  isFound(node: number): boolean {
    const origin = this.shown.origin(node);
    return origin !== NO_NODE && this.keptSearch !== undefined && this.keptSearch.isMatch(origin);
  }

  unkeep(): void {
    this.kept = undefined;
    this.rebuild();
    this.tell("view", "selection", "filter");
  }

  private testOf(filter: Filter): (node: number) => boolean {
    const search = filter.text === "" ? undefined : new Search(this.tree, filter.text, this.names);
    this.keptSearch = search;
    return (node) =>
      (search?.isMatch(node) ?? true) && filter.hasProperties(this.tree, node, this.ages);
  }

  /** Whether the filter chooses files alone, so that what it counts can be called files. */
  choosesFiles(): boolean {
    const { filter: { chosen }, facts } = this;
    const has = (property: Property, notFiles: number) => chosen[property].size > 0 && !chosen[property].has(notFiles);
    return has("category", facts.categories.length - 1) || has("age", this.ages.rest) || has("ending", facts.endings.findIndex((ending) => ending.not_files));
  }

  /** What is lit, but for the choice among groups of `without`; undefined where that is all. */
  litWithout(without: Property): ((node: number) => boolean) | undefined {
    const { filter, search, shown, ages } = this;
    const others = PROPERTIES.filter((property) => property !== without && filter.chosen[property].size > 0);
    if (search === undefined && others.length === 0) return undefined;
    return (node) => {
      const origin = shown.origin(node);
      return (search === undefined || (origin !== NO_NODE && search.isMatch(origin)))
        && others.every((property) => shown.tells(node, property) && filter.chosen[property].has(propertyOf(shown, node, property, ages)));
    };
  }

  /** Whether anything is faded now. */
  fades(): boolean {
    return this.lit !== undefined || !this.filter.isEmpty();
  }

  setOptions(options: { showsFree?: boolean; showsMarks?: boolean }): void {
    Object.assign(this, options);
    this.tell("options");
  }

  /** Finds the nodes of the ten lines that are worth a look. */
  private mark(): void {
    this.marks = [];
    this.facts.worth.forEach((worth, index) => {
      const { node, isExact } = nearest(this.tree, pathBytes(worth.path));
      if (!isExact) return;
      const nodes = this.shown instanceof RegroupedTree ? this.shown.nodesOf(node) : [node];
      for (const shown of nodes) this.marks.push({ number: index + 1, node: shown });
    });
  }

  // The address.

  private addressNow(): address.Address {
    const namesOf = (tree: Tree, node: number) =>
      wayTo(tree, node).slice(1).map((at) => tree.nameBytes(at));
    return {
      path: namesOf(this.tree, this.base),
      by: this.grouping,
      inside: this.shown === this.tree ? [] : namesOf(this.shown, this.view),
      colour: this.colour,
      measure: this.measure,
    };
  }

  private record(isSameView = false): void {
    const fragment = address.written(this.addressNow(), usualMeasure(this.facts));
    if (fragment === location.hash) return;
    try {
      if (isSameView) history.replaceState(null, "", fragment);
      else history.pushState(null, "", fragment);
    } catch {
      // A frame without a history, as notebooks have it: the view changes all the same.
    }
  }

  /** Shows what the address says, as far as the report has it. */
  async follow(): Promise<void> {
    const wanted = address.read(location.hash, usualMeasure(this.facts));
    this.colour = wanted.colour;
    this.measure = wanted.measure;
    this.kept = undefined;
    const before = this.view;
    const beforeTree = this.shown;
    this.base = await this.walk(this.tree, this.tree.root, wanted.path);
    this.grouping = wanted.by;
    this.rebuild();
    if (this.shown !== this.tree) {
      this.view = await this.walk(this.shown, this.shown.root, wanted.inside);
      this.selection = { node: this.view, isRest: false };
    } else if (beforeTree === this.tree) {
      const came = wayTo(this.tree, before);
      const at = came.indexOf(this.view);
      this.selection = { node: (at >= 0 ? came[at + 1] : undefined) ?? this.view, isRest: false };
    }
    this.tell("view", "selection", "colour", "measure", "filter");
    if (this.shown.isClosed(this.view)) await this.load([this.view]);
  }

  private async walk(tree: Tree, from: number, names: Uint8Array[]): Promise<number> {
    let node = from;
    for (const name of names) {
      await tree.open(node);
      const child = childNamed(tree, node, name);
      if (child === NO_NODE || !isContainer(tree, child)) break;
      node = child;
    }
    return node;
  }

  // Paths.

  /** The path behind a node, if it has one: a group has none. */
  pathOf(node: number): Uint8Array | undefined {
    const origin = this.shown.origin(node);
    if (origin === NO_NODE) return undefined;
    if (this.tree.kind(origin) === Kind.AllRoots) return undefined;
    return pathOf(this.tree, origin);
  }

  /** The directory of a node: itself, or the one that holds it. */
  directoryOf(node: number): Uint8Array | undefined {
    let origin = this.shown.origin(node);
    if (origin === NO_NODE) return undefined;
    if (!isContainer(this.tree, origin)) origin = this.tree.parent(origin);
    if (origin === NO_NODE || this.tree.kind(origin) === Kind.AllRoots) return undefined;
    return pathOf(this.tree, origin);
  }

  /** What all of the view is called, where a share is told. */
  wholeName(): string {
    const { shown, view, kept, grouping, base, tree } = this;
    if (view !== shown.root) return label(shown, view);
    if (kept !== undefined) return `what matches ${filterText(kept, this.legends)}`;
    return base === tree.root ? "the total" : grouping === "tree" ? label(shown, view) : label(tree, base);
  }

  /** Whether the root is the whole of what is shown, without a filter. */
  isWhole(): boolean {
    return this.view === this.shown.root && this.base === this.tree.root && this.kept === undefined;
  }
}

/** Words for a filter. */
export function filterText(filter: Filter, legends: Viewer["legends"]): string {
  const parts = filter.text === "" ? [] : [`“${filter.text}”`];
  for (const property of PROPERTIES) {
    for (const value of filter.chosen[property]) {
      parts.push(legends[property].find((entry) => entry.value === value)?.label ?? "unknown");
    }
  }
  return parts.join(", ");
}

