// SPDX-License-Identifier: MIT OR Apache-2.0

// Trees on the disk, the report that the program makes of them, and what `find` says of them.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after } from "node:test";
import { HOSTILE, random, type Report } from "./sample";

const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../../../../target", import.meta.url));
const programs = [process.env.STATWALK ?? "", `${target}/debug/statwalk`, `${target}/release/statwalk`];
export const program = programs.find((path) => existsSync(path));
const isRoot = process.getuid?.() === 0;
/** A user without rights, for trees that cannot be read. */
const NOBODY = 65_534;

const folder = mkdtempSync(join(tmpdir(), "statwalk-real-"));
chmodSync(folder, 0o755);
after(() => rmSync(folder, { recursive: true, force: true }));

export interface Real {
  name: string;
  root: string;
  detail: string[];
  /** Whether a user without rights scans it. */
  isForeign: boolean;
  /** The directories that a program makes again. */
  again: string[][];
}

const DAY = 86_400;
const AGES = [0.01, 0.5, 3, 20, 60, 200, 500, 1_200, 3_000];
const ENDINGS = ["mp4", "zip", "rs", "log", "jpg", "pdf", "iso", "", "xyz", "csv", "o", "mp3"];

/** Writes a file of random size, age and owner. */
function write(path: string | Buffer, next: () => number, bytes = Math.floor(next() ** 3 * 60_000)): void {
  writeFileSync(path, Buffer.alloc(bytes, 1));
  const at = Date.now() / 1000 - AGES[Math.floor(next() * AGES.length)]! * DAY;
  utimesSync(path, at, at);
  if (isRoot && next() < 0.4) chownSync(path, next() < 0.5 ? 1 : NOBODY, 0);
}

/** Directories below each other, with files of all categories. */
function fill(path: string, directories: number, files: number, seed: number): void {
  const next = random(seed);
  const places = [path];
  mkdirSync(path);
  for (let at = 0; at < directories; at++) {
    const name = ["films", "projects", "logs", "iso", "old mail", "node_modules", "Photos"][Math.floor(next() * 7)]!;
    const place = join(places[Math.floor(next() * places.length)]!, `${name}-${at}`);
    mkdirSync(place);
    places.push(place);
  }
  for (let at = 0; at < files; at++) {
    const ending = ENDINGS[Math.floor(next() ** 1.5 * ENDINGS.length)]!;
    const word = next() < 0.2 ? "iso" : "item";
    write(join(places[Math.floor(next() * places.length)]!, `${word} ${at}${ending === "" ? "" : `.${ending}`}`), next);
  }
}

export function small(name = "small"): Real {
  const root = join(folder, name);
  fill(root, 9, 60, 3);
  const next = random(5);
  // What sums trip over: names of one inode, holes, nothing, links, a queue, and what can be made again.
  write(join(root, "first.mp4"), next, 90_000);
  // Two that are equal, and not the same.
  write(join(root, "copy 1.zip"), next, 70_000);
  write(join(root, "copy 2.zip"), next, 70_000);
  linkSync(join(root, "first.mp4"), join(root, "second.mp4"));
  write(join(root, "holes.iso"), next, 100);
  truncateSync(join(root, "holes.iso"), 9 << 20);
  writeFileSync(join(root, "empty.rs"), "");
  mkdirSync(join(root, "nothing here"));
  symlinkSync("first.mp4", join(root, "a link"));
  execFileSync("mkfifo", [join(root, "queue")]);
  for (const project of ["one", "two", "three"]) {
    mkdirSync(join(root, project, "target", "debug"), { recursive: true });
    writeFileSync(join(root, project, "Cargo.toml"), "[package]\n");
    writeFileSync(join(root, project, "target", "CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n");
    write(join(root, project, "target", "debug", "made.o"), next, 30_000 + 9_000 * project.length);
  }
  return { name, root, detail: [], isForeign: false, again: ["one", "two", "three"].map((project) => [project, "target"]) };
}

export function large(): Real {
  const root = join(folder, "large");
  fill(root, 40, 800, 7);
  return { name: "large", root, detail: ["--detail=400"], isForeign: false, again: [] };
}

/** Names that try to be code, in a tree that its reader cannot read wholly. */
export function hostile(): Real {
  const root = join(folder, "<i>root it's");
  mkdirSync(root);
  const next = random(11);
  const inside = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x64, 0xfe, 0x0a])]);
  mkdirSync(inside);
  for (const place of [Buffer.from(root), inside]) {
    for (const name of HOSTILE) {
      const bytes = typeof name === "string" ? Buffer.from(name) : Buffer.from(name);
      write(Buffer.concat([place, Buffer.from("/"), bytes]), next, 3_000 + Math.floor(next() * 200_000));
    }
  }
  mkdirSync(join(root, "<"));
  write(join(root, "<", "script><script>globalThis.hacked=3"), next, 70_000);
  const early = join(root, "before 1970");
  writeFileSync(early, "x");
  utimesSync(early, -86_400 * 200, -86_400 * 200);
  return { name: "hostile", root, detail: [], isForeign: false, again: [] };
}

/** A tree of which something cannot be read, whoever scans it. */
export function bound(): Real {
  const made = small("bound");
  for (const name of ["shut", "shut too"]) {
    mkdirSync(join(made.root, name));
    write(join(made.root, name, "unseen.mp4"), random(1), 5_000_000);
    chmodSync(join(made.root, name), 0);
  }
  return { ...made, isForeign: true };
}

/** Runs a command as the user who scans the tree. Status 1 is that something was not read. */
function run(real: Real, command: string, ...words: string[]): Buffer {
  const asNobody = ["--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups", command, ...words];
  const [file, all] = real.isForeign && isRoot ? ["setpriv", asNobody] : [command, words];
  const { status, stdout, stderr, error } = spawnSync(file, all, { maxBuffer: 1 << 28, env: { ...process.env, LC_ALL: "C.UTF-8" } });
  if (error !== undefined) throw error;
  if (status !== 0 && status !== 1) throw new Error(`${command} ${words.join(" ")}: ${status}: ${stderr.toString()}`);
  return stdout;
}

/** The answer of a command of the program as JSON. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export function json(real: Real, ...words: string[]): any {
  // Sums of this size are exact as doubles.
  return JSON.parse(run(real, program!, ...words).toString());
}

/** The page that the program writes: its text, and what the viewer shows. */
export function pageOf(real: Real, ...words: string[]): { html: string; report: Report } {
  const html = run(real, program!, "report", real.root, "--output=-", ...real.detail, ...words).toString();
  const between = (start: string, end: string, from = 0): string => {
    const at = html.indexOf(start, from);
    return html.slice(at + start.length, html.indexOf(end, at));
  };
  const blocks: string[] = [];
  for (let at = 0; html.includes(`id="statwalk-block-${at}"`); at++) blocks.push(between(`id="statwalk-block-${at}">`, "</script>"));
  return {
    html,
    report: {
      facts: JSON.parse(between('id="statwalk-meta">', "</script>")),
      blocks: [], packed: blocks, plain: between("<noscript>", "</noscript>"),
    },
  };
}

/** An entry, as `find` sees it. */
export interface Found {
  path: Buffer;
  kind: string;
  allocated: bigint;
  apparent: bigint;
  modified: number;
  uid: number;
  inode: string;
  links: number;
}

export function find(real: Real): Found[] {
  const text = run(real, "find", real.root, "-printf", "%y %b %s %T@ %U %i %n %p\\0");
  const found: Found[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf(0, start);
    const line = text.subarray(start, end);
    start = end + 1;
    const [kind, blocks, bytes, modified, uid, inode, links] = line.toString("latin1").split(" ", 7) as [string, string, string, string, string, string, string];
    const words = [kind, blocks, bytes, modified, uid, inode, links].join(" ").length + 1;
    // As the program counts: a directory has no content of its own.
    found.push({
      path: Buffer.from(line.subarray(words)), kind, allocated: BigInt(blocks) * 512n,
      apparent: kind === "d" ? 0n : BigInt(bytes), modified: Math.floor(Number(modified)), uid: Number(uid), inode, links: Number(links),
    });
  }
  return found;
}
