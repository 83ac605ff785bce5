// SPDX-License-Identifier: MIT OR Apache-2.0

// Every number of the page, in every mode, beside the answers of `statwalk --json`,
// `statwalk stats --json` and `find` for the same tree at rest.

import assert from "node:assert/strict";
import { statfsSync } from "node:fs";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { share } from "../src/share";
import { size, spokenSize } from "../src/size";
import { close, inBrowser, open, settled } from "./browser";
import { isUnder, key, NOTHING, Oracle, OWN, type Item, type Property, type Sums } from "./oracle";
import { hover, read, select, type PageRead, type RowRead, type TableRead } from "./reading";
import { bound, find, hostile, json, large, pageOf, program, small, type Real } from "./real";

const withProgram = { ...inBrowser, timeout: 600_000, ...(program === undefined && { skip: "skipped: needs the program (cargo build -p statwalk)" }) };

type Measure = "allocated" | "apparent";
type Grouping = "tree" | "category" | "owner" | "age";

/** What the page shows, as the test has asked for it. */
interface Mode {
  name: string;
  base: string[];
  grouping: Grouping;
  /** Which entries alone are shown. */
  kept?: (item: Item) => boolean;
  /** Labels from the root of what is shown to the view. */
  view: string[];
  colour: Exclude<Property, "ending">;
  measure: Measure;
  /** What is lit: what is chosen of each property, and a search. */
  chosen: Partial<Record<Property, string[]>>;
  search?: (item: Item) => boolean;
  /** The names that the search matches. */
  matches?: (name: string) => boolean;
}

const START: Mode = { name: "start", base: [], grouping: "tree", view: [], colour: "category", measure: "allocated", chosen: {} };
const REST = /^([\d,]+) smaller items?$/;
const SEVERAL = "smaller items of several kinds";

const counts = new Intl.NumberFormat("en-GB");
const count = (number: bigint | number) => counts.format(number);
const days = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
const moments = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
const day = (seconds: number | undefined) => (seconds === undefined ? "–" : days.format(seconds * 1000));
const counted = (number: bigint | number, one: string, many: string) => `${count(number)} ${number == 1 ? one : many}`;
const minus = (a: Sums, b: Sums): Sums => ({
  allocated: a.allocated - b.allocated, apparent: a.apparent - b.apparent, entries: a.entries - b.entries, files: a.files - b.files, newest: undefined,
});

/** Collects what is wrong, so that one run tells all of it. */
class Checker {
  readonly wrong: string[] = [];
  checked = 0;
  constructor(readonly oracle: Oracle) {}

  equal(found: unknown, expected: unknown, where: string): void {
    this.checked += 1;
    if (found !== expected) this.wrong.push(`${where}: ${String(found)}, and not ${String(expected)}`);
  }

  /** The entries of a view that are in question; those that the file has alone where it must tell them apart. */
  wanted(mode: Mode): (item: Item) => boolean {
    const { kept } = mode;
    return kept === undefined ? () => true : (item) => item.isKnown && kept(item);
  }

  isLit(mode: Mode, item: Item, without?: Property): boolean {
    for (const [property, values] of Object.entries(mode.chosen) as [Property, string[]][]) {
      if (property !== without && !values.includes(item[property])) return false;
    }
    return mode.search?.(item) ?? true;
  }

  isWhole(mode: Mode): boolean {
    return mode.base.length === 0 && mode.kept === undefined;
  }

  /** The sums of a row, or undefined for one whose sums depend on its siblings. */
  sumsOf(mode: Mode, way: string[]): Sums | undefined {
    const { oracle } = this;
    const { base, grouping, kept } = mode;
    const isWanted = this.wanted(mode);
    const last = way[way.length - 1];
    if (last !== undefined && REST.test(last)) return undefined;
    const own = last === OWN;
    if (grouping === "tree") {
      const at = [...base, ...(own ? way.slice(0, -1) : way)];
      const item = oracle.item(at);
      if (own) return item === undefined ? undefined : { ...NOTHING, allocated: item.allocated, apparent: item.apparent };
      return kept === undefined ? oracle.under(at) : oracle.of(isWanted, at);
    }
    if (way.length === 0) return kept === undefined ? oracle.under(base) : oracle.of(isWanted, base);
    if (way[0] === SEVERAL) return oracle.of((item) => !item.isKnown, base);
    const isOf = (item: Item) => item[grouping] === way[0] && isWanted(item);
    if (way.length === 1) return oracle.of((item) => isOf(item) && (this.isWhole(mode) || item.isKnown), base);
    const at = [...base, ...way.slice(1, own ? -1 : undefined)];
    if (own) {
      const item = oracle.item(at)!;
      return { ...NOTHING, allocated: item.allocated, apparent: item.apparent };
    }
    return oracle.of((item) => item.isKnown && isOf(item), at);
  }

  isBound(mode: Mode, way: string[]): boolean {
    const { oracle: { isBound } } = this;
    const last = way[way.length - 1];
    if (last === OWN || (last !== undefined && REST.test(last) && mode.grouping === "tree")) return false;
    if (mode.grouping === "tree") return isBound.has(key([...mode.base, ...way]));
    const origin = way.length > 1 && !REST.test(last!) ? way.slice(1) : [];
    return isBound.has(key([...mode.base, ...origin]));
  }

  whole(mode: Mode): Sums {
    return this.sumsOf(mode, mode.view) ?? NOTHING;
  }

  wholeName(mode: Mode, filter: string): string {
    if (mode.grouping === "tree" && mode.kept === undefined) return mode.base[mode.base.length - 1] ?? "the total";
    if (mode.view.length > 0) return mode.view[mode.view.length - 1]!;
    if (mode.kept !== undefined) return `what matches ${filter}`;
    return mode.base[mode.base.length - 1] ?? "the total";
  }

  // The tree.

  rows(mode: Mode, rows: RowRead[], filter = ""): void {
    const whole = this.whole(mode);
    const wholeName = this.wholeName(mode, filter);
    const way: string[] = [];
    const inView = mode.grouping === "tree" && mode.kept === undefined ? [] : mode.view;
    const read = new Map<string, { sums: Sums; row: RowRead }[]>();
    const open: { way: string[]; row: RowRead; sums: Sums }[] = [];
    for (const row of rows) {
      way.length = Math.max(0, row.level - 2);
      if (row.level > 1) way.push(row.label);
      const at = [...inView, ...way];
      const where = `${mode.name}: row ${at.join("/")}`;
      let sums = this.sumsOf(mode, at);
      if (sums === undefined) {
        // The rest of what stands beside it.
        const above = this.sumsOf(mode, at.slice(0, -1))!;
        this.pending.push({ at, row, above });
        continue;
      }
      const list = read.get(key(at.slice(0, -1))) ?? [];
      list.push({ sums, row });
      read.set(key(at.slice(0, -1)), list);
      open.push({ way: at, row, sums });
      this.row(mode, at, row, sums, whole, wholeName, where);
    }
    // Rests last: all that stands beside them is known then.
    for (const { at, row, above } of this.pending) {
      const beside = read.get(key(at.slice(0, -1))) ?? [];
      let rest = above;
      for (const one of beside) rest = minus(rest, one.sums);
      // The directory itself is an entry, and no row counts it.
      if (mode.grouping === "tree" && mode.kept === undefined) rest = { ...rest, entries: rest.entries - 1n };
      const isComplete = Number(row.of) === beside.length + 1;
      if (isComplete) this.row(mode, at, row, rest, whole, wholeName, `${mode.name}: rest of ${at.slice(0, -1).join("/")}`);
    }
    this.pending.length = 0;
  }
  private readonly pending: { at: string[]; row: RowRead; above: Sums }[] = [];

  private row(mode: Mode, at: string[], row: RowRead, sums: Sums, whole: Sums, wholeName: string, where: string): void {
    const last = at[at.length - 1];
    const isRest = last !== undefined && REST.test(last);
    const bound = this.isBound(mode, at) ? "≥ " : "";
    this.equal(row.disk, `${bound}${size(sums.allocated)}`, `${where}, disk`);
    this.equal(row.apparent, `${bound}${size(sums.apparent)}`, `${where}, apparent`);
    const part = share(sums[mode.measure], whole[mode.measure]);
    this.equal(row.share, part, `${where}, share`);
    this.equal(row.entries, last === OWN ? "" : count(sums.entries), `${where}, entries`);
    if (isRest) this.equal(REST.exec(last!)![1], count(sums.entries), `${where}, name`);
    const isGroupRest = isRest && mode.grouping !== "tree";
    if (!isRest && last !== OWN && !isGroupRest) {
      const item = this.oracle.item([...mode.base, ...(mode.grouping === "tree" ? at : at.slice(1))]);
      const isAlone = sums.entries === 1n && item !== undefined && item.kind === "d" && mode.grouping === "tree" && mode.kept === undefined;
      if (!isAlone) this.equal(row.newest, day(sums.newest), `${where}, newest`);
    }
    this.equal(row.spoken.startsWith(`${row.label}, ${spokenSize(sums[mode.measure])}, ${part} of ${wholeName}`), true, `${where}, spoken ${row.spoken} of ${wholeName}`);
  }

  // The legend: the groups of what is in the view and lit by the others.

  legend(mode: Mode, page: PageRead): void {
    const { oracle } = this;
    const property = mode.colour;
    const isLit = (item: Item) => this.isLit(mode, item, property);
    const isWanted = this.wanted(mode);
    const [from, group] = mode.grouping === "tree" ? [[...mode.base, ...(mode.kept === undefined ? [] : mode.view)], undefined]
      : [[...mode.base, ...mode.view.slice(1)], mode.view[0]];
    // Below a group of the scan, and in one of a directory, are entries with a node alone.
    const areKnown = group !== undefined && (mode.view.length > 1 || !this.isWhole(mode));
    const isIn = (item: Item) => isUnder(item.way, from) && isWanted(item) && (group === undefined || item[mode.grouping as Property] === group)
      && (!areKnown || item.isKnown);
    const isFiltered = mode.search !== undefined || Object.keys(mode.chosen).some((other) => other !== property);
    const isCounted = this.isWhole(mode) && mode.view.length === 0 && !isFiltered;
    // The rest of a group is told apart by its own property; it stands beside the directories.
    const isGroupTold = mode.grouping === property && this.isWhole(mode) && mode.view.length < 2 && !isFiltered;
    const told = (item: Item) => isCounted || isGroupTold || item.isKnown;
    const groups = oracle.groups(property, (item) => isIn(item) && isLit(item) && told(item));
    const expected = [...groups].filter(([label, sums]) => sums.allocated > 0n || sums.apparent > 0n || (mode.chosen[property] ?? []).includes(label));
    const found = new Map(page.legend.map(({ label, bytes }) => [label, bytes]));
    for (const [label, sums] of expected) this.equal(found.get(label), size(sums[mode.measure]), `${mode.name}: legend ${label}`);
    const extra = page.legend.filter(({ label }) => !groups.has(label));
    for (const { label, bytes } of extra) this.equal(bytes, "0 B", `${mode.name}: legend ${label}`);
    const several = isFiltered ? NOTHING : oracle.of((item) => isIn(item) && !told(item));
    if (!isFiltered) this.equal(page.several, several[mode.measure] > 0n ? size(several[mode.measure]) : undefined, `${mode.name}: legend, several items`);
  }

  // What is lit and what is kept.

  found(mode: Mode, text: string, words: string): void {
    const { oracle } = this;
    const isWanted = this.wanted(mode);
    const lit = Object.keys(mode.chosen).length > 0 || mode.search !== undefined;
    if (!lit) {
      if (mode.kept === undefined) return this.equal(text, "", `${mode.name}: found`);
      const sums = oracle.of(isWanted, mode.base);
      const total = oracle.under([])!;
      const head = `Only ${words}: ${size(sums.allocated)}, ${share(sums.allocated, total.allocated)} of the scan.`;
      return this.equal(text.startsWith(head), true, `${mode.name}: found ${JSON.stringify(text)} for ${head}`);
    }
    const properties = Object.keys(mode.chosen) as Property[];
    if (properties.length === 0) {
      const isNamed = mode.matches!;
      const named = oracle.items.filter((item) => item.way.length > 0 && this.hasNode(item) && isNamed(item.way[item.way.length - 1]!));
      const isBelow = (item: Item) => item.way.slice(0, -1).some((name) => isNamed(name));
      const outer = named.filter((item) => !isBelow(item));
      const nested = named.length - outer.length;
      const bytes = outer.reduce((sum, item) => sum + oracle.under(item.way)!.allocated, 0n);
      const inside = nested === 0 ? "" : ` (${count(nested)} of them inside of others)`;
      const head = `Lit: ${words}: ${counted(named.length, "match", "matches")}${inside}, ${size(bytes)}.`;
      return this.equal(text.startsWith(head), true, `${mode.name}: found ${JSON.stringify(text)} for ${head}`);
    }
    const isCounted = this.isWhole(mode) && properties.length === 1 && mode.search === undefined;
    const sums = oracle.of((item) => isWanted(item) && this.isLit(mode, item) && (isCounted || item.isKnown), mode.base);
    const notFiles = oracle.facts.categories[oracle.facts.categories.length - 1]!.label;
    const noAge = oracle.facts.ages[oracle.facts.ages.length - 1]!.label!;
    const { category = [notFiles], age = [noAge] } = mode.chosen;
    const areFiles = !category.includes(notFiles) || !age.includes(noAge);
    const files = areFiles ? counted(sums.entries, "file", "files") : counted(sums.entries, "entry", "entries");
    const head = `Lit: ${words}: ${files}, ${size(sums.allocated)}`;
    this.equal(text.startsWith(head), true, `${mode.name}: found ${JSON.stringify(text)} for ${head}`);
  }

  /** Whether the file has a node of this name. */
  hasNode(item: Item): boolean {
    return item.way.length === 0 || (this.oracle.childrenOf.get(key(item.way.slice(0, -1))) ?? []).includes(item.way[item.way.length - 1]!);
  }

  // The selection.

  selection(mode: Mode, pairs: Map<string, string>, at: string[], filter = ""): void {
    const sums = this.sumsOf(mode, at);
    if (sums === undefined) return;
    const where = `${mode.name}: selection ${at.join("/")}`;
    const exact = (bytes: bigint) => `${size(bytes)} (${count(bytes)} B)`;
    this.equal(pairs.get("disk"), exact(sums.allocated), `${where}, disk`);
    this.equal(pairs.get("apparent"), exact(sums.apparent), `${where}, apparent`);
    const whole = this.whole(mode);
    this.equal(pairs.get("share"), `${share(sums[mode.measure], whole[mode.measure])} of ${this.wholeName(mode, filter)}`, `${where}, share`);
    if (sums.entries > 1n) this.equal(pairs.get("entries"), count(sums.entries), `${where}, entries`);
    const time = pairs.get("newest") ?? pairs.get("modified");
    if (time !== undefined && sums.newest !== undefined) this.equal(time, moments.format(sums.newest * 1000), `${where}, newest`);
    for (const [name, property] of [["most owned by", "owner"], ["most of it", "category"]] as const) {
      const found = pairs.get(name);
      if (found === undefined) continue;
      const isOf = mode.grouping === "tree" || at.length === 0 ? () => true : (item: Item) => item[mode.grouping as Property] === at[0];
      const from = [...mode.base, ...(mode.grouping === "tree" ? at : at.slice(1))];
      const isTold = this.wanted(mode);
      const isHere = (item: Item) => isUnder(item.way, from) && isOf(item) && isTold(item)
        && (mode.grouping === "tree" || item.isKnown || (this.isWhole(mode) && at.length < 2));
      const groups = [...this.oracle.groups(property, isHere)];
      const most = groups.reduce((most, [, sums]) => (sums.allocated > most ? sums.allocated : most), 0n);
      const isMost = groups.some(([label, sums]) => label === found && sums.allocated === most);
      this.equal(isMost, true, `${where}, ${name} ${found}`);
    }
  }

  // The map.

  async map(page: Page, mode: Mode, filter = ""): Promise<void> {
    const cells = await hover(page, 80);
    const whole = this.whole(mode);
    const name = mode.measure === "allocated" ? "disk" : "apparent";
    let sum = 0n;
    for (const cell of cells) {
      const pairs = new Map(cell.pairs);
      const shown = pairs.get(name)!;
      const bytes = BigInt(/\(([\d,]+) B\)/.exec(shown)![1]!.replaceAll(",", ""));
      const where = `${mode.name}: tooltip ${cell.of} ${cell.name}`;
      this.equal(shown, `${size(bytes)} (${count(bytes)} B)`, where);
      this.equal(pairs.get("share"), `${share(bytes, whole[mode.measure])} of ${this.wholeName(mode, filter)}`, `${where}, share`);
      if (REST.test(cell.name) || cell.name === SEVERAL) {
        sum += bytes;
        continue;
      }
      const above = cell.of === "" ? [] : cell.of.split(" › ");
      if (above[0] === "…") continue;
      const at = [...mode.view, ...above, cell.name];
      const sums = this.sumsOf(mode, cell.name === this.wholeName(mode, filter) ? mode.view : at);
      if (sums === undefined) this.wrong.push(`${where}: no such entry`);
      else this.equal(bytes, sums[mode.measure], where);
    }
    this.checked += 1;
    if (sum > whole[mode.measure]) this.wrong.push(`${mode.name}: the rests of the map have ${sum} of ${whole[mode.measure]}`);
  }

  // The tables beside the tree.

  tables(page: PageRead, extras: { stats: Record<string, StatsGroup[]> }): void {
    const { oracle } = this;
    const total = oracle.under([])!;
    const { types, owners, ages, sizes, largest } = page.panels as Record<string, TableRead[]>;
    const groups = (table: TableRead, property: Property, where: string) => {
      for (const [label, , disk, part, apparent, files] of table.rows) {
        let sums = oracle.groups(property).get(label!);
        if (property === "ending") {
          const endings = oracle.groups("ending", (item) => item.kind === "f");
          sums = label === "directories, links and others" ? oracle.of((item) => item.kind !== "f")
            : label === "all other endings" ? undefined : endings.get(label === "no ending" ? "" : label!.slice(1));
          if (label === "all other endings") continue;
        }
        if (sums === undefined) {
          this.wrong.push(`${where} ${label}: no such group`);
          continue;
        }
        this.equal(disk, size(sums.allocated), `${where} ${label}, disk`);
        this.equal(apparent, size(sums.apparent), `${where} ${label}, apparent`);
        this.equal(part, share(sums.allocated, total.allocated), `${where} ${label}, share`);
        this.equal(files, count(sums.entries), `${where} ${label}, count`);
      }
      const shown = table.rows.map(([label]) => label);
      if (property !== "ending") {
        for (const [label, sums] of oracle.groups(property)) if (sums.allocated > 0n) this.equal(shown.includes(label), true, `${where}: a row of ${label}`);
      }
    };
    groups(types![0]!, "category", "Types");
    groups(types![1]!, "ending", "Endings");
    groups(owners![0]!, "owner", "Owners");
    groups(ages![0]!, "age", "Ages");
    // The same groups in `statwalk stats`.
    const { categories, owners: ofOwners } = oracle.facts;
    for (const group of extras.stats.category!.filter(({ type }) => type === "f")) {
      const label = categories.find(({ key }) => key === group.category)!.label;
      const sums = oracle.groups("category").get(label) ?? NOTHING;
      this.equal(`${sums.allocated} ${sums.apparent} ${sums.entries}`, `${group.allocated_bytes} ${group.apparent_bytes} ${group.entries}`, `find beside stats --by category, ${label}`);
    }
    for (const group of extras.stats.owner!) {
      const index = ofOwners.findIndex(({ id }) => id === group.uid);
      const sums = oracle.groups("owner").get(ofOwners[index]?.name?.text ?? String(group.uid)) ?? NOTHING;
      this.equal(`${sums.allocated} ${sums.apparent} ${sums.entries}`, `${group.allocated_bytes} ${group.apparent_bytes} ${group.entries}`, `find beside stats --by owner, ${group.uid}`);
    }

    const files = oracle.items.filter(({ kind }) => kind === "f");
    const counting = files.filter((item) => !(item.links > 1 && item.allocated === 0n && item.apparent === 0n));
    const sorted = [...counting].sort((a, b) => (a.allocated < b.allocated ? 1 : a.allocated > b.allocated ? -1 : 0));
    const { caption, rows } = largest![0]!;
    this.equal(caption, `The ${counted(rows.length, "largest file", "largest files")}`, "Largest, caption");
    this.equal(rows.length, Math.min(100, sorted.length), "Largest, rows");
    const byPath = new Map(oracle.items.map((item) => [[oracle.root, ...item.way].join("/"), item]));
    rows.forEach(([path, disk, apparent, modified, owner], at) => {
      const item = byPath.get(path!);
      if (item === undefined) return void this.wrong.push(`Largest: ${path} is not there`);
      this.equal(item.kind, "f", `Largest: ${path} is a file`);
      this.equal(`${disk} ${apparent} ${modified} ${owner}`, `${size(item.allocated)} ${size(item.apparent)} ${day(item.modified)} ${item.owner}`, `Largest: ${path}`);
      this.equal(item.allocated, sorted[at]?.allocated, `Largest: place of ${path}`);
    });

    const [bySize, percentiles] = sizes as [TableRead, TableRead];
    oracle.facts.sizes.forEach((group, at) => {
      const { from_bytes, to_bytes } = group as unknown as { from_bytes?: string; to_bytes?: string };
      const isIn = (item: Item) => (group.not_files ? item.kind !== "f" : item.kind === "f" && !elsewhere.has(item)
        && item.apparent >= BigInt(from_bytes ?? 0) && (to_bytes === undefined || item.apparent < BigInt(to_bytes)));
      const elsewhere = new Set(files.filter((item) => !counting.includes(item)));
      const sums = oracle.of(isIn);
      const number = group.not_files ? sums.entries : sums.files;
      const [label, , shownFiles, bytes, part] = bySize.rows[at]!;
      this.equal(bytes, size(sums.allocated), `Sizes ${label}, disk`);
      this.equal(part, share(sums.allocated, total.allocated), `Sizes ${label}, share`);
      this.checked += 1;
      // Another name of an inode is in the class of its file, or in none.
      const most = number + BigInt(elsewhere.size);
      const shown = BigInt(shownFiles!.replaceAll(",", ""));
      if (shown < number || shown > most) this.wrong.push(`Sizes ${label}, files: ${shownFiles}, and not ${number} to ${most}`);
    });
    const ordered = counting.map(({ apparent }) => apparent).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    for (const [label, bytes] of percentiles.rows) {
      const of = label === "Half of the files" ? 50 : label === "The largest file" ? 100 : Number(/^(\d+) %/.exec(label!)![1]);
      const at = Math.max(0, Math.ceil((ordered.length * of) / 100) - 1);
      const exact = ordered[at] ?? 0n;
      // Of a limit the program knows the class, an eighth wide at most.
      const isTrue = of === 100 ? bytes === size(exact) : sizesUpTo(exact).includes(bytes!.replace("≤ ", ""));
      this.equal(isTrue, true, `Percentiles, ${label}: ${bytes} for ${size(exact)}`);
    }
  }

  // The first line, what is worth a look, and the disk.

  gist(page: PageRead, real: Real, unread: number): void {
    const { oracle } = this;
    const total = oracle.under([])!;
    const isWorth = (bytes: bigint) => bytes > 0n && bytes * 100n >= total.allocated;
    const parts: string[] = [];
    const unknown = oracle.facts.categories.filter(({ key }) => ["other", "no_extension", "not_files"].includes(key)).map(({ label }) => label);
    const [most] = [...oracle.groups("category")].filter(([label]) => !unknown.includes(label)).sort(([, a], [, b]) => (a.allocated < b.allocated ? 1 : -1));
    const atLeast = page.figures[0]!.value.startsWith("≥") ? "at least " : "";
    if (most !== undefined && isWorth(most[1].allocated)) parts.push(`${atLeast}${size(most[1].allocated)} of ${most[0]}`);
    const again = real.again.reduce((sum, way) => sum + oracle.under(way)!.allocated, 0n);
    if (isWorth(again)) parts.push(`${atLeast}${size(again)} can be made again (${counted(real.again.length, "directory", "directories")})`);
    const files = oracle.items.filter(({ kind, links, allocated, apparent }) => kind === "f" && !(links > 1 && allocated === 0n && apparent === 0n));
    const listed = files.sort((a, b) => (a.allocated < b.allocated ? 1 : a.allocated > b.allocated ? -1 : 0)).slice(0, 100);
    const counts = new Map<bigint, bigint>();
    for (const { apparent } of listed) counts.set(apparent, (counts.get(apparent) ?? 0n) + 1n);
    const least = listed.reduce((least, { apparent }) => (apparent < least ? apparent : least), 1n << 90n);
    const equal = [...counts].filter(([bytes, number]) => number > 1n && bytes > 0n && !(files.length > listed.length && bytes === least));
    equal.sort(([a, m], [b, n]) => (a * m < b * n ? 1 : a * m > b * n ? -1 : a < b ? 1 : -1));
    if (equal[0] !== undefined && isWorth(equal[0][0])) {
      const [bytes, number] = equal[0];
      parts.push(`${["two", "three", "four", "five"][Number(number) - 2] ?? number} files of ${size(bytes)} have the same size`);
    }
    if (unread > 0) parts.push(`${counted(unread, "path", "paths")} could not be read`);
    const text = parts.join("; ");
    this.equal(page.gist, text === "" ? "" : `${text[0]!.toUpperCase()}${text.slice(1)}.`, "the first line");
  }

  worth(page: PageRead, real: Real, unread: number): void {
    const { oracle } = this;
    const now = Math.max(...oracle.facts.ages.map(({ from_s }) => from_s ?? -Infinity)) - 1;
    const files = (isIn: (item: Item) => boolean) => oracle.of((item) => item.kind === "f" && isIn(item));
    const [old, recent] = [files(({ modified }) => modified < now - 2 * 365 * 86_400), files(({ modified }) => modified >= now - 7 * 86_400 && modified <= now)];
    const again = real.again.reduce((sum, way) => sum + oracle.under(way)!.allocated, 0n);
    const expected: [RegExp, string][] = [
      [/two years/, `${counted(old.files, "file", "files")} not modified for two years: ${size(old.allocated)}Light them all`],
      [/7 days/, `${counted(recent.files, "file", "files")} modified within 7 days: ${size(recent.allocated)}Light them all`],
      [/makes again/, `${counted(real.again.length, "directory", "directories")} that a program makes again: ${size(again)}Show all ${count(real.again.length)}`],
      [/not read/, `${counted(unread, "path that was not read", "paths that were not read")}Show all ${count(unread)}`],
    ];
    for (const head of page.worthHeads) {
      const found = expected.find(([pattern]) => pattern.test(head));
      this.equal(head, found?.[1], "Worth a look");
    }
    this.equal(page.worthHeads.some((head) => /makes again/.test(head)), real.again.length > 0, "Worth a look, what is made again");
    const byPath = new Map(oracle.items.map((item) => [[oracle.root, ...item.way].join("/"), item]));
    page.worth.forEach(({ text, bytes, mark }, at) => {
      const item = byPath.get(text);
      if (item === undefined) return void this.wrong.push(`Worth a look: ${text} is not there`);
      this.equal(bytes, bytes === "" ? "" : size(oracle.under(item.way)!.allocated), `Worth a look: ${text}`);
      this.equal(mark, String(at + 1), `Worth a look: mark of ${text}`);
    });
  }

  disk(page: PageRead, real: Real): void {
    const { oracle } = this;
    const numbers = statfsSync(real.root, { bigint: true });
    const { spaces = [] } = oracle.facts;
    this.equal(page.panels.space?.length ?? 0, spaces.length, "Disk, file systems");
    const read = oracle.under([])!.allocated;
    const [table] = page.panels.space ?? [];
    const [space] = spaces;
    if (table === undefined || space === undefined) return;
    this.equal(table.caption.endsWith(`: ${size(space.total)} = 100 %`), true, `Disk: ${table.caption}`);
    this.equal(space.total, numbers.blocks * numbers.bsize, "Disk, all of it");
    const bytes = new Map(space.parts.map((part) => [part.label, part.bytes]));
    this.equal(bytes.get("read by this scan"), read, "Disk, read by this scan");
    this.equal(bytes.get("not in this scan"), bytes.get("used")! - read, "Disk, not in this scan");
    this.equal(bytes.get("used")! + bytes.get("free")!, space.total, "Disk, used and free");
    // Others write to it meanwhile.
    const difference = Number(bytes.get("free")! - numbers.bfree * numbers.bsize) / Number(space.total);
    this.equal(Math.abs(difference) < 0.1, true, `Disk, free: ${difference}`);
    space.parts.forEach((part, at) => {
      const [label, , shown, part2] = table.rows[at]!;
      this.equal(`${label!.startsWith(part.label)} ${shown} ${part2}`, `true ${size(part.bytes)} ${share(part.bytes, space.total)}`, `Disk, ${part.label}`);
    });
  }

  matches(mode: Mode, page: PageRead): void {
    const { oracle } = this;
    const named = oracle.items.filter((item) => item.way.length > 0 && this.hasNode(item) && mode.matches!(item.way[item.way.length - 1]!));
    const bytes = (item: Item) => oracle.under(item.way)!.allocated;
    const sorted = named.map(bytes).sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, 200);
    this.equal(page.matches.map((match) => match.bytes).join(", "), sorted.map(size).join(", "), `${mode.name}: list of matches`);
    this.equal(page.matchHead, named.length === 0 ? page.matchHead : named.length <= 200 ? `${counted(named.length, "match", "matches")}, the largest first`
      : `The 200 largest of ${count(named.length)} matches`, `${mode.name}: head of the list of matches`);
    const byWay = new Map(named.map((item) => [item.way.join("/"), item]));
    for (const match of page.matches) {
      const item = byWay.get([match.where, match.label].filter((text) => text !== "").join("/"));
      this.equal(match.bytes, item === undefined ? "no such entry" : size(bytes(item)), `${mode.name}: match ${match.where}/${match.label}`);
    }
  }

  header(page: PageRead, isComplete: boolean, unread: number): void {
    const { oracle } = this;
    const total = oracle.under([])!;
    const [disk, apparent, entries, lacking] = page.figures;
    this.equal(`${disk!.value} ${disk!.title}`, `${isComplete ? "" : "≥ "}${size(total.allocated)} ${count(total.allocated)} bytes`, "header, disk");
    this.equal(`${apparent!.value} ${apparent!.title}`, `${isComplete ? "" : "≥ "}${size(total.apparent)} ${count(total.apparent)} bytes`, "header, apparent");
    const of = (kinds: string) => oracle.items.filter(({ kind }) => kinds.includes(kind)).length;
    const other = oracle.items.length - of("fdl");
    this.equal(`${entries!.value}; ${entries!.title}`,
      `${count(total.entries)}; ${counted(of("f"), "file", "files")}, ${counted(of("d"), "directory", "directories")}, ${counted(of("l"), "link", "links")}, ${count(other)} other`, "header, entries");
    this.equal(lacking?.value, unread === 0 ? undefined : count(unread), "header, not read");
    const has = `${counted(total.entries, "entry", "entries")}`;
    this.equal(page.footer.includes(has) && page.help.includes(has), true, `footer and help: ${page.footer}`);
  }
}

/** The texts of all sizes from this one to an eighth more. */
function sizesUpTo(bytes: bigint): string[] {
  return Array.from({ length: 400 }, (_, at) => size(bytes + (bytes * BigInt(at)) / 3_200n));
}

interface StatsGroup {
  type?: string;
  category?: string;
  uid?: number;
  entries: number;
  allocated_bytes: number;
  apparent_bytes: number;
}

// Ways through the page.

/** Waits until the page has drawn what was asked for, its legend too. */
async function rest(page: Page): Promise<void> {
  await settled(page);
}

const group = async (page: Page, grouping: string) => {
  await page.click(`.segments button:text-is("${grouping[0]!.toUpperCase()}${grouping.slice(1)}")`);
  await rest(page);
};

/** Expands every row that can be. */
async function expandAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (let round = 0; round < 15; round++) {
      const closed = document.querySelector<HTMLElement>('.body .row[aria-expanded="false"] .twist');
      if (closed === null) break;
      closed.click();
    }
  });
  await page.focus("#tree");
  await page.keyboard.press("Home");
  await settled(page);
}

async function checkTree(real: Real): Promise<void> {
  const { html, report } = pageOf(real);
  const oracle = await Oracle.of(report, find(real));
  const checker = new Checker(oracle);
  const [byDefault, category, owner] = [json(real, "--json", real.root), json(real, "stats", "--by=category", "--json", real.root), json(real, "stats", "--by=owner", "--json", real.root)];
  const total = oracle.under([])!;
  const [told] = byDefault.roots;
  checker.equal(`${told.allocated_bytes} ${told.apparent_bytes} ${told.entries} ${told.files}`, `${total.allocated} ${total.apparent} ${total.entries} ${total.files}`, "find beside --json");
  const byPath = new Map(oracle.items.map((item) => [[oracle.root, ...item.way].join("/"), item]));
  for (const row of byDefault.tree) {
    const item = row.path_b64 === undefined ? byPath.get(row.path) : undefined;
    if (item === undefined) continue;
    const sums = oracle.under(item.way)!;
    checker.equal(`${sums.allocated} ${sums.apparent} ${sums.entries}`, `${row.allocated_bytes} ${row.apparent_bytes} ${row.entries}`, `find beside --json, ${row.path}`);
  }

  const opened = await open(report, { viewport: { width: 1600, height: 3600 } });
  const { page } = opened;
  await expandAll(page);
  let texts = 0;
  const check = async (mode: Mode, filter = "", words = filter): Promise<PageRead> => {
    const found = await read(page);
    texts += found.rows.length;
    checker.rows(mode, found.rows, filter);
    checker.legend(mode, found);
    checker.found(mode, found.found, words);
    for (const left of found.leftOver) checker.wrong.push(`${mode.name}: nobody reads ${left}`);
    return found;
  };

  const first = await check(START);
  checker.header(first, byDefault.complete, byDefault.errors.length);
  checker.gist(first, real, byDefault.errors.length);
  checker.worth(first, real, byDefault.errors.length);
  checker.disk(first, real);
  checker.tables(first, { stats: { category: category.groups, owner: owner.groups } });

  // Every mode in every tree, and in the small one all together: a page shows hundreds of numbers in each.
  const isWhole = real.name === "small";

  // Groupings, colours and sizes.
  for (const grouping of ["tree", "category", "owner", "age"] as const) {
    await group(page, grouping);
    await expandAll(page);
    for (const colour of ["category", "owner", "age"] as const) {
      const measures = colour === "category" ? (["allocated", "apparent"] as const) : (["allocated"] as const);
      for (const measure of measures) {
        await page.selectOption("select[title^=Colour]", colour);
        await page.selectOption("label:has-text('Size') select", measure);
        await rest(page);
        const mode: Mode = { ...START, name: `${grouping}, colour ${colour}, ${measure}`, grouping, colour, measure };
        await check(mode);
        if (colour === "category" && (grouping === "tree" || measure === "allocated")) await checker.map(page, mode);
      }
    }
    await page.selectOption("select[title^=Colour]", "category");
    await page.selectOption("label:has-text('Size') select", "allocated");
    await rest(page);
    // The facts about what is selected.
    const mode: Mode = { ...START, name: `${grouping}, selected`, grouping };
    const ways = await page.$$eval(".body .row", (rows) => {
      const way: string[] = [];
      return rows.map((row) => {
        way.length = Math.max(0, Number(row.getAttribute("aria-level")) - 2);
        if (row.getAttribute("aria-level") !== "1") way.push(row.querySelector(".c-name .name")!.textContent!);
        return [...way];
      });
    });
    const step = Math.max(1, Math.floor(ways.length / 10));
    const places = ways.flatMap((_, at) => (at % step === 0 ? [at] : []));
    const selections = await select(page, places);
    selections.forEach((pairs, at) => checker.selection(mode, pairs, ways[places[at]!]!));
    // Zoomed into what is largest, twice.
    const view: string[] = [];
    for (let depth = 0; depth < 2; depth++) {
      const label = await page.evaluate(() => {
        const row = [...document.querySelectorAll('.body .row[aria-level="2"]')].find((row) => row.querySelector(".c-name.directory") !== null);
        row?.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
        return row?.querySelector(".c-name .name")!.textContent;
      });
      if (label == null) break;
      view.push(label);
      await rest(page);
      await expandAll(page);
      const zoomed: Mode = { ...START, name: `${grouping}, zoomed to ${view.join("/")}`, grouping, ...(grouping === "tree" ? { base: [...view], view: [] } : { view: [...view] }) };
      await check(zoomed);
      await checker.map(page, zoomed);
    }
    if (grouping === "tree" && view.length > 0) {
      // A directory by groups.
      for (const by of ["category", "owner", "age"] as const) {
        await group(page, by);
        await expandAll(page);
        const inside: Mode = { ...START, name: `${view.join("/")} by ${by}`, base: [...view], grouping: by };
        await check(inside);
        await checker.map(page, inside);
      }
      await group(page, "tree");
    }
    for (let depth = 0; depth < view.length; depth++) await page.keyboard.press("Backspace");
    await rest(page);
  }
  await group(page, "tree");
  await expandAll(page);

  // What is chosen in the legend: one group, and two properties.
  for (const property of ["category", "owner", "age"] as const) {
    await page.selectOption("select[title^=Colour]", property);
    await rest(page);
    const labels = (await read(page)).legend.map(({ label }) => label);
    for (const label of labels.slice(0, isWhole ? 2 : 1)) {
      const chip = page.locator(".legend .entry", { has: page.locator(`.name:text-is("${label}")`) });
      await chip.click();
      await page.mouse.move(0, 0);
      await rest(page);
      await check({ ...START, name: `${label} lit`, colour: property, chosen: { [property]: [label] } }, label);
      await chip.click();
    }
    await page.mouse.move(0, 0);
    await rest(page);
    if (property === "category") continue;
    const [label] = labels;
    await page.locator(".legend .entry", { has: page.locator(`.name:text-is("${label}")`) }).click();
    await page.selectOption("select[title^=Colour]", "category");
    await page.mouse.move(0, 0);
    await rest(page);
    await check({ ...START, name: `${property} ${label} lit, legend of categories`, chosen: { [property]: [label!] } }, label);
    await page.click(".filter button:text-is('Keep only these')");
    await rest(page);
    await expandAll(page);
    const kept: Mode = { ...START, name: `only ${label}`, kept: (item) => item[property] === label };
    await check(kept, label);
    await checker.map(page, kept, label);
    await group(page, "category");
    await expandAll(page);
    await check({ ...kept, name: `only ${label} by category`, grouping: "category" }, label);
    await group(page, "tree");
    await page.click(".filter button:text-is('Show all')");
    await rest(page);
  }
  await page.selectOption("select[title^=Colour]", "category");
  await expandAll(page);

  // A search, what it lights, and its matches alone.
  for (const text of isWhole ? ["iso", "e", "*.mp4", "nothing at all"] : ["iso", "nothing at all"]) {
    await page.fill("#search", text);
    await page.waitForTimeout(90);
    await rest(page);
    const words = `“${text}”`;
    const isNamed = (name: string) => (text === "*.mp4" ? name.toLowerCase().endsWith(".mp4") : name.toLowerCase().includes(text));
    const isMatch = (item: Item) => item.way.some(isNamed);
    const searched: Mode = { ...START, name: `${words} searched`, search: isMatch, matches: isNamed };
    checker.matches(searched, await check(searched, words));
    if (text === "nothing at all") continue;
    await page.press("#search", "Enter");
    await rest(page);
    await expandAll(page);
    const kept: Mode = { ...START, name: `only ${words}`, kept: isMatch };
    await check(kept, words);
    await checker.map(page, kept, words);
    for (const by of isWhole ? (["category", "owner", "age"] as const) : (["category"] as const)) {
      await group(page, by);
      await expandAll(page);
      await check({ ...kept, name: `only ${words} by ${by}`, grouping: by }, words);
    }
    await group(page, "tree");
    await page.click(".filter button:text-is('Show all')");
    await rest(page);
    await expandAll(page);
  }
  await page.fill("#search", "");
  await page.waitForTimeout(90);

  // Paper has the same numbers.
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await rest(page);
  await check({ ...START, name: "print" });
  assert.deepEqual(opened.complaints, []);
  await close(opened);

  // Without JavaScript.
  const silent = await open(report, { javaScriptEnabled: false, isSilent: true });
  const plain = await silent.page.evaluate(() => ({
    paragraphs: [...document.querySelectorAll("noscript p")].map((p) => p.textContent!),
    rows: [...document.querySelectorAll("noscript tr")].map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent!)).filter((cells) => cells.length > 0),
  })).catch(() => undefined);
  await close(silent);
  void html;
  for (const [bytes, part, path] of plain?.rows ?? []) {
    const item = byPath.get(path!.replace(" (incomplete)", ""));
    if (item === undefined) {
      checker.wrong.push(`no script: ${path} is not there`);
      continue;
    }
    const sums = oracle.under(item.way)!;
    checker.equal(`${bytes} ${part}`, `${size(sums.allocated)} ${share(sums.allocated, total.allocated)}`, `no script: ${path}`);
  }
  checker.equal((plain?.rows.length ?? 0) > 0, true, "no script: rows");
  const of = (kinds: string) => oracle.items.filter(({ kind }) => kinds.includes(kind)).length;
  const sentence = `${size(total.allocated)} on disk, ${size(total.apparent)} apparent; ${count(total.entries)} entries: ${counted(of("f"), "file", "files")}, ` +
    `${counted(of("d"), "directory", "directories")}, ${counted(of("l"), "link", "links")}, ${counted(oracle.items.length - of("fdl"), "other", "others")}.`;
  checker.equal(plain?.paragraphs.includes(sentence), true, `no script: ${plain?.paragraphs.join(" ")} for ${sentence}`);

  assert.ok(texts > 100, `${texts} rows were read`);
  assert.equal(checker.wrong.length, 0, `${checker.wrong.length} of ${checker.checked} numbers are wrong:\n${checker.wrong.slice(0, 60).join("\n")}`);
  console.log(`${real.name}: ${checker.checked} numbers`);
}

test("every number of a small tree is true in every mode", withProgram, () => checkTree(small()));
test("every number of a large tree is true in every mode", withProgram, () => checkTree(large()));
test("every number of a tree with hostile names is true in every mode", withProgram, () => checkTree(hostile()));
test("every number of a tree that is a lower bound is true in every mode", withProgram, () => checkTree(bound()));
