// SPDX-License-Identifier: MIT OR Apache-2.0

// Made trees, and the report of one as the program writes it: facts, blocks and the page.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

export interface Node {
  name: Uint8Array;
  kind: number;
  flags?: number;
  allocated: bigint;
  apparent: bigint;
  entries: bigint;
  newest?: number;
  owner: number;
  category: number;
  ending: number;
  children: Node[];
  /** What of its children is no node of the file; they stand in the sums of a rest. */
  hidden?: Node[];
  /** Its children go into a block of their own. */
  isApart?: boolean;
}

export const CATEGORIES: [key: string, label: string, endings: string[]][] = [
  ["video", "video", ["mkv", "mp4"]],
  ["archive", "archives", ["tar.gz", "zip"]],
  ["image", "images", ["jpg", "png"]],
  ["object", "object files and libraries", ["so", "o", "pyc"]],
  ["source", "source code", ["rs", "c", "py"]],
  ["document", "documents", ["pdf", "md"]],
  ["database", "databases", ["sqlite", "ibd"]],
  ["log", "logs", ["log"]],
  ["machine", "virtual machines and containers", ["qcow2", "iso"]],
  ["package", "packages", ["deb", "whl"]],
  ["data", "data", ["csv", "json"]],
  ["cache", "caches", ["cache"]],
  ["model", "AI models", ["gguf"]],
  ["no_extension", "no extension", [""]],
];
export const NOT_FILES = CATEGORIES.length;
export const ENDINGS = CATEGORIES.flatMap(([, , endings]) => endings);
export const OWNERS = ["root", "kim", "postgres", "build", "climate", "www-data"];
/** 2026-11-20 12:00 UTC. */
export const NOW_S = 1_795_176_000;
const DAY = 86_400;
const AGES: [label: string, from?: number, to?: number][] = [
  ["last day", NOW_S - DAY, undefined],
  ["last week", NOW_S - 7 * DAY, NOW_S - DAY],
  ["last month", NOW_S - 30 * DAY, NOW_S - 7 * DAY],
  ["last year", NOW_S - 365 * DAY, NOW_S - 30 * DAY],
  ["last 2 years", NOW_S - 730 * DAY, NOW_S - 365 * DAY],
  ["last 5 years", NOW_S - 1826 * DAY, NOW_S - 730 * DAY],
  ["older", undefined, NOW_S - 1826 * DAY],
];
const SIZES: [label: string, below: bigint][] = [
  ["empty", 1n], ["up to 4 KiB", 4097n], ["to 64 KiB", 65_537n], ["to 1 MiB", 1_048_577n],
  ["to 16 MiB", 16_777_217n], ["to 256 MiB", 268_435_457n], ["to 4 GiB", 4_294_967_297n],
  ["larger", 1n << 90n],
];

/** Random numbers that are the same in each run (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const bytesOf = (name: string | Uint8Array) =>
  typeof name === "string" ? new TextEncoder().encode(name) : name;

export function file(name: string | Uint8Array, allocated: bigint | number, more: Partial<Node> = {}): Node {
  const ending = ENDINGS.findIndex((ending) =>
    ending !== "" && typeof name === "string" && name.toLowerCase().endsWith(`.${ending}`));
  const known = ending < 0 ? ENDINGS.indexOf("") : ending;
  return {
    name: bytesOf(name),
    kind: 1,
    allocated: BigInt(allocated),
    apparent: BigInt(allocated) - BigInt(allocated) / 10n,
    entries: 1n,
    newest: NOW_S - 40 * DAY,
    owner: 0,
    category: CATEGORIES.findIndex(([, , endings]) => endings.includes(ENDINGS[known]!)),
    ending: known,
    children: [],
    ...more,
  };
}

/** A directory of these children; it has blocks of its own. */
export function directory(name: string | Uint8Array, children: Node[], more: Partial<Node> = {}): Node {
  const own = BigInt(4096 * Math.max(1, Math.ceil(children.length / 100)));
  const owner = more.owner ?? 0;
  const blocks: Node = {
    name: bytesOf(""), kind: 5, allocated: own, apparent: own, entries: 0n,
    newest: NOW_S - 10 * DAY, owner, category: NOT_FILES, ending: 255, children: [],
  };
  const all = [...children, blocks].sort((a, b) =>
    a.allocated < b.allocated ? 1 : a.allocated > b.allocated ? -1 : 0);
  const sum = (key: "allocated" | "apparent" | "entries") =>
    all.reduce((sum, child) => sum + child[key], 0n);
  const flags = all.some((child) => (child.flags ?? 0) & 3) ? 1 : 0;
  return {
    name: bytesOf(name),
    kind: 0,
    flags,
    allocated: sum("allocated"),
    apparent: sum("apparent"),
    entries: sum("entries") + 1n,
    newest: Math.max(...all.map((child) => child.newest ?? 0)),
    owner: all[0]!.owner,
    category: all[0]!.category,
    ending: 255,
    children: all,
    ...more,
  };
}

/** Puts all but the largest children into one node, as the program does. */
export function rest(parent: Node, kept: number): Node {
  const hidden = parent.children.slice(kept);
  if (hidden.length < 2) return parent;
  const sum = (key: "allocated" | "apparent" | "entries") =>
    hidden.reduce((sum, child) => sum + child[key], 0n);
  const others: Node = {
    name: bytesOf(""), kind: 4, allocated: sum("allocated"), apparent: sum("apparent"),
    entries: sum("entries"), newest: Math.max(...hidden.map((child) => child.newest ?? 0)),
    owner: hidden[0]!.owner, category: hidden[0]!.category, ending: 255, children: [],
  };
  const children = [...parent.children.slice(0, kept), others].sort((a, b) =>
    a.allocated < b.allocated ? 1 : a.allocated > b.allocated ? -1 : 0);
  return { ...parent, children, hidden };
}

/** A tree of about so many nodes. */
export function bigTree(nodes: number, seed = 7, root = "/srv"): Node {
  const next = random(seed);
  const words = ["data", "lib", "share", "build", "runs", "photos", "cache", "src", "backup", "logs",
    "2024", "2025", "2026", "models", "images", "mail", "climate", "projects", "target", "dist"];
  const pick = <T>(from: T[]): T => from[Math.floor(next() * from.length)]!;
  let left = nodes;
  function fill(name: string, depth: number, mood: number, owner: number, scale: number, budget: number): Node {
    const children: Node[] = [];
    const directories = depth > 7 || budget < 12 ? 0 : 2 + Math.floor(next() * 7);
    const files = Math.min(budget, 3 + Math.floor(next() * (directories === 0 ? budget : 30)));
    left -= 1;
    const age = next();
    for (let index = 0; index < files; index++) {
      const category = next() < 0.7 ? mood : Math.floor(next() * CATEGORIES.length);
      const ending = pick(CATEGORIES[category]![2]);
      const bytes = Math.floor(scale * 4096 * (1 + Math.exp(next() * 9)) * (next() < 0.02 ? 60 : 1) / 4096) * 4096;
      const days = Math.exp(Math.min(8, (age + next() * 0.4) * 7.5));
      children.push(file(`${pick(words)}-${index}${ending === "" ? "" : `.${ending}`}`, bytes, {
        owner, newest: Math.floor(NOW_S - days * DAY * next() - 60),
      }));
      left -= 1;
    }
    let rests = budget - files;
    for (let index = 0; index < directories && left > 0 && rests > 0; index++) {
      const part = index === directories - 1 ? rests : Math.floor(rests * (0.15 + next() * 0.5));
      rests -= part;
      children.push(fill(
        `${pick(words)}${index === 0 ? "" : `-${index}`}`, depth + 1,
        next() < 0.4 ? Math.floor(next() * CATEGORIES.length) : mood,
        next() < 0.15 ? Math.floor(next() * OWNERS.length) : owner,
        scale * (0.4 + next() * 1.5), part));
    }
    const made = directory(name, children, { owner });
    return made.children.length > 40 ? rest(made, 30) : made;
  }
  return fill(root, 0, 3, 0, 24, nodes * 1.15);
}

/** Names that try to be code, or hide what they are. */
export const HOSTILE: (string | Uint8Array)[] = [
  "<img src=x onerror=\"globalThis.hacked=1\">",
  "<script>globalThis.hacked=2<!--<script>",
  "<style>body{display:none}",
  "new\nline\r\ttab",
  "\u001b[2J\u001b]0;title\u0007",
  "gpj.\u202eexe",
  Uint8Array.from([0x63, 0x61, 0x66, 0xe9, 0xff, 0x20, 0x27]),
  "x".repeat(255),
  "😀 emoji.png",
  "  leading spaces",
  "$(touch hacked) `id` \"q\" 'a' \\",
  "-rf",
  "{{SCRIPT}}{{META}}$&$'",
  "a\u00a0b\u200bc",
];

export function hostileTree(): Node {
  const files = HOSTILE.map((name, index) => file(name, 4096 * (index + 2) * 40));
  const below = directory("<b>dir<b>", HOSTILE.map((name, index) => file(name, 4096 * (index + 5))));
  const invalid = directory(Uint8Array.from([0x64, 0xfe, 0x0a]), [file("inner file", 9 << 20)]);
  // No name has a slash, and yet a path can end an element.
  const end = directory("<", [file("script><script>globalThis.hacked=3", 8 << 20), file("style><b>", 7 << 20)]);
  return directory("/srv/<i>root it's", [
    ...files, below, invalid, end,
    directory("secret", [], { flags: 2 }),
    file("old", 1 << 20, { newest: -86_400 * 200 }),
    file("future", 1 << 20, { newest: 4_300_000_000 }),
    file("no time", 1 << 20, { newest: undefined }),
    file("linked", 0, { flags: 16 }),
  ]);
}

function pathText(path: Uint8Array): { text: string; raw?: string } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(path) };
  } catch {
    const text = Array.from(path, (byte) =>
      byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`).join("");
    return { text, raw: Buffer.from(path).toString("base64") };
  }
}

/** All nodes in the order of a block: children in a row, parents before them. */
function inRows(root: Node): { nodes: Node[]; parents: number[] } {
  const nodes = [root];
  const parents = [0xffffffff];
  for (let at = 0; at < nodes.length; at++) {
    if (nodes[at]!.isApart && at > 0) continue;
    for (const child of nodes[at]!.children) {
      nodes.push(child);
      parents.push(at);
    }
  }
  return { nodes, parents };
}

export function block(root: Node, blockOf?: (node: Node) => { block: number; node: number } | undefined): Uint8Array {
  const { nodes, parents } = inRows(root);
  const count = nodes.length;
  const steps = parents.map((parent, at) => parent - (at === 0 ? 0xffffffff : parents[at - 1]!));
  const names = nodes.flatMap((node) => [...node.name]);
  const low = (value: bigint) => value & 0xffffffffffffffffn;
  const high = (value: bigint) => Number(value >> 64n);
  const columns: Record<string, [type: string, data: ArrayBufferView]> = {
    parent_step: ["u32", Uint32Array.from(steps)],
    kind: ["u8", Uint8Array.from(nodes, (node) => node.kind)],
    flags: ["u8", Uint8Array.from(nodes, (node) => node.flags ?? 0)],
    allocated: ["u64", BigUint64Array.from(nodes, (node) => low(node.allocated))],
    apparent: ["u64", BigUint64Array.from(nodes, (node) => low(node.apparent))],
    entries: ["u64", BigUint64Array.from(nodes, (node) => node.entries)],
    newest_s: ["i64", BigInt64Array.from(nodes, (node) =>
      node.newest === undefined ? -(2n ** 63n) : BigInt(node.newest))],
    owner: ["u32", Uint32Array.from(nodes, (node) => node.owner)],
    category: ["u8", Uint8Array.from(nodes, (node) => node.category)],
    ending: ["u8", Uint8Array.from(nodes, (node) => node.ending)],
    name_length: ["u32", Uint32Array.from(nodes, (node) => node.name.length)],
    names: ["bytes", Uint8Array.from(names)],
  };
  if (nodes.some((node) => high(node.allocated) > 0 || high(node.apparent) > 0)) {
    columns.allocated_high = ["u32", Uint32Array.from(nodes, (node) => high(node.allocated))];
    columns.apparent_high = ["u32", Uint32Array.from(nodes, (node) => high(node.apparent))];
  }
  if (blockOf !== undefined) {
    const places = nodes.map((node, at) => (at > 0 && node.isApart ? blockOf(node) : undefined));
    columns.block = ["u32", Uint32Array.from(places, (place) => place?.block ?? 0xffffffff)];
    columns.block_node = ["u32", Uint32Array.from(places, (place) => place?.node ?? 0)];
  }
  const header: Record<string, { type: string; at: number; bytes: number; planes?: (number | null)[] }> = {};
  const contents: Uint8Array[] = [];
  let end = 0;
  for (const [name, [type, data]] of Object.entries(columns)) {
    const numbers = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const isWhole = name === "newest_s" || type === "bytes";
    const { planes, bytes } = isWhole ? { bytes: numbers } : inPlanes(numbers, count);
    header[name] = { type, at: end, bytes: bytes.length, ...(planes && { planes }) };
    contents.push(bytes);
    end = (end + bytes.length + 7) & ~7;
  }
  const text = new TextEncoder().encode(JSON.stringify({ nodes: count, columns: header }));
  const start = (4 + text.length + 7) & ~7;
  const bytes = new Uint8Array(start + end);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  Object.values(header).forEach(({ at }, index) => bytes.set(contents[index]!, start + at));
  return bytes;
}

/** The bytes of the same value of all numbers together; without those that are all one. */
function inPlanes(numbers: Uint8Array, count: number): { planes: (number | null)[]; bytes: Uint8Array } {
  const width = numbers.length / count;
  const all = Array.from({ length: width }, (_, plane) => numbers.filter((_, at) => at % width === plane));
  const planes = all.map((plane) => (plane.every((byte) => byte === plane[0]) ? plane[0]! : null));
  return { planes, bytes: Buffer.concat(all.filter((_, plane) => planes[plane] === null)) };
}

export interface Report {
  facts: Record<string, unknown>;
  blocks: Uint8Array[];
  /** Blocks as the program wrote them, in place of `blocks`. */
  packed?: string[];
  /** What readers without JavaScript see. */
  plain?: string;
}

interface Extra {
  worth?: { kind: string; path: Uint8Array; allocated?: bigint; note: string }[];
  free?: bigint;
  facts?: Record<string, unknown>;
}

export function report(root: Node, extra: Extra = {}): Report {
  return { facts: { ...factsOf(root, extra), ...extra.facts }, blocks: blocksOf(root) };
}

export function blocksOf(root: Node): Uint8Array[] {
  // The directories that are apart share a block, as small ones do in the program.
  const blocks: Uint8Array[] = [];
  const queue = [root];
  const places = new Map<Node, { block: number; node: number }>();
  const isFull = contains(root, (node) => node.isApart === true);
  let number = 1;
  const shared: Node[] = [];
  for (const start of queue) {
    for (const node of inRows(start).nodes.slice(1)) {
      if (!node.isApart) continue;
      if (node.entries < 1000n) {
        shared.push(node);
      } else {
        places.set(node, { block: number++, node: 0 });
        queue.push(node);
      }
    }
  }
  const blockOf = isFull ? (node: Node) => places.get(node) : undefined;
  if (shared.length > 0) {
    shared.forEach((node, at) => places.set(node, { block: number, node: at + 1 }));
  }
  for (const start of queue) blocks.push(block(start, blockOf));
  if (shared.length > 0) {
    const wrapper: Node = {
      ...directory("", []), kind: 7, name: bytesOf(""), children: shared.map((node) => ({ ...node, isApart: false })),
    };
    blocks.push(block(wrapper, blockOf));
  }
  return blocks;
}

function contains(root: Node, test: (node: Node) => boolean): boolean {
  return all(root).some(({ node }) => test(node));
}

const SLASH = Uint8Array.from([0x2f]);

/** Every entry of the scan with its path, also those that no node shows. */
export function all(root: Node): { node: Node; path: Uint8Array }[] {
  const list = [{ node: root, path: root.name }];
  for (let at = 0; at < list.length; at++) {
    const { node, path } = list[at]!;
    const children = node.hidden === undefined
      ? node.children
      : [...node.children.filter((child) => child.kind !== 4), ...node.hidden];
    for (const child of children) {
      list.push({ node: child, path: child.kind < 4 ? Buffer.concat([path, SLASH, child.name]) : path });
    }
  }
  return list;
}

function factsOf(root: Node, { worth = [], free }: Extra): Record<string, unknown> {
  const entries = all(root).filter(({ node }) => node.children.length === 0 || node.kind === 0);
  const leaves = entries.filter(({ node }) => node.kind !== 0 || node.children.length === 0);
  const files = entries.filter(({ node }) => node.kind === 1);
  const directories = entries.filter(({ node }) => node.kind === 0);
  const sums = (list: { node: Node }[]) => {
    const times = list.filter(({ node }) => node.kind === 1).flatMap(({ node }) => node.newest ?? []);
    return {
      allocated: String(list.reduce((sum, { node }) => sum + node.allocated, 0n)),
      apparent: String(list.reduce((sum, { node }) => sum + node.apparent, 0n)),
      ...(times.length === 0 ? {} : { newest_s: times.reduce((newest, time) => Math.max(newest, time)) }),
    };
  };
  const fileSums = (list: { node: Node }[]) => ({ ...sums(list), files: String(list.length) });
  const notFiles = leaves.filter(({ node }) => node.kind !== 1);
  const notFileSums = { ...sums(notFiles), files: String(directories.length) };
  const byAge = (from?: number, to?: number) => files.filter(({ node }) =>
    node.newest !== undefined && node.newest >= (from ?? -Infinity) && node.newest < (to ?? Infinity));
  const timeless = files.filter(({ node }) => node.newest === undefined);
  const sorted = [...files].sort((a, b) => (a.node.allocated < b.node.allocated ? 1 : -1));
  const ordered = [...files].map(({ node }) => node.apparent).sort((a, b) => (a < b ? -1 : 1));
  return {
    version: 2,
    program: "statwalk 0.1.0",
    roots: [pathText(root.name)],
    host: { text: "db3.example.org" },
    time_ns: `${NOW_S}000000000`,
    options: ["statwalk", "report", root.name, "-o", "report.html"].map((word) => pathText(bytesOf(word))),
    is_redacted: false,
    complete: { is: true, why: "" },
    totals: {
      allocated: String(root.allocated), apparent: String(root.apparent), entries: String(root.entries),
      files: String(files.length), directories: String(directories.length), links: "0", other: "0", errors: "0",
    },
    categories: [
      ...CATEGORIES.map(([key, label], index) => ({
        key, label, ...fileSums(files.filter(({ node }) => node.category === index)),
      })),
      { key: "not_files", label: "directories, links and others", ...notFileSums },
    ],
    endings: [
      ...ENDINGS.map((name, index) => ({ name, ...fileSums(files.filter(({ node }) => node.ending === index)) })),
      { not_files: true, ...notFileSums },
    ],
    owners: OWNERS.map((name, index) => {
      const theirs = leaves.filter(({ node }) => node.owner === index);
      return { id: index * 1000, name: { text: name }, ...sums(theirs), entries: String(theirs.length) };
    }),
    ages: [
      ...AGES.map(([label, from, to]) => ({
        label,
        ...(from === undefined ? {} : { from_s: from }),
        ...(to === undefined ? {} : { to_s: to }),
        ...fileSums(byAge(from, to)),
      })),
      { not_files: true, ...sums([...notFiles, ...timeless]), files: notFileSums.files },
    ],
    sizes: [
      ...SIZES.map(([label, below], index) => ({
        label, ...fileSums(files.filter(({ node }) =>
          node.apparent < below && node.apparent >= (SIZES[index - 1]?.[1] ?? 0n))),
      })),
      { not_files: true, ...notFileSums },
    ],
    percentiles: [50, 90, 99, 100].map((of) => ({
      of, bytes: String(ordered[Math.min(ordered.length - 1, Math.floor((ordered.length * of) / 100))] ?? 0n),
    })),
    largest: sorted.slice(0, 100).map(({ node, path }) => ({
      path: pathText(path), allocated: String(node.allocated), apparent: String(node.apparent),
      ...(node.newest === undefined ? {} : { newest_s: node.newest }), owner: node.owner, category: node.category,
    })),
    errors: [],
    errors_total: "0",
    ...(free === undefined ? {} : { free_bytes: String(free) }),
    worth: worth.map(({ path, allocated, ...more }) => ({
      ...more, path: pathText(path), ...(allocated === undefined ? {} : { allocated: String(allocated) }),
    })),
    detail: { nodes: String(inRows(root).nodes.length), of_entries: String(root.entries) },
  };
}

const asset = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), "utf8");

/** The page, put together as the program does. */
export function page({ facts, blocks, packed, plain = "<main><h1>made</h1></main>" }: Report): string {
  const script = asset("dist/viewer.js");
  const style = asset("dist/viewer.css");
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const json = JSON.stringify(facts).replace(/[<>&\u2028\u2029]/g, (letter) =>
    `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const values: Record<string, string> = {
    TITLE: "statwalk: a made report",
    CSP: `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; ` +
      "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'",
    STYLE: style,
    PLAIN: plain,
    SCRIPT: script,
    META: json,
    BLOCKS: (packed ?? blocks.map((bytes) => deflateRawSync(bytes).toString("base64"))).map((text, index) =>
      `<script type="text/plain" id="statwalk-block-${index}">${text}</script>`).join("\n"),
  };
  return asset("page.html").replace(/\{\{([A-Z]+)\}\}/g, (_, name: string) => values[name]!);
}
