// SPDX-License-Identifier: MIT OR Apache-2.0

// The page in a browser: speed, safety, the map against its layout, accessibility, sizes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { label, smallerItems } from "../src/describe";
import { Cell, Layout } from "../src/layout";
import { size } from "../src/size";
import { copiedPath, shellWord } from "../src/command";
import { shownName } from "../src/name";
import { close, fragmentOf, inBrowser, open, press, selected, settled, slowness, text, way } from "./browser";
import { treeOf } from "./made";
import { all, bigTree, directory, file, hostileTree, random, report, type Node, type Report } from "./sample";

const big = report(bigTree(150_000, 11));
const middleMade = bigTree(12_000, 11);
const middle = report(middleMade, {
  free: middleMade.allocated / 4n,
  worth: all(middleMade).filter(({ node }) => node.kind === 0).slice(1, 11).map(({ node, path }, index) => ({
    kind: (["old", "new", "rebuildable", "unreadable"] as const)[index % 4]!, path, allocated: node.allocated, note: "made for a test",
  })),
  facts: {
    complete: { is: false, why: "2 directories could not be read" },
    errors: [{ path: { text: "/srv/secret" }, operation: "open", cause: "permission denied" }], errors_total: "2",
    spaces: [{
      point: { text: "/srv" }, total: String(middleMade.allocated * 2n + 12_345_678n), is_exact: true,
      parts: [
        { label: "used", bytes: String(middleMade.allocated * 2n), level: 0, note: "with the rest" },
        { label: "free", bytes: "12345678", level: 0 },
      ],
    }],
  },
});
const fewMade = directory("/srv", [bigTree(300, 4, "some"), file("alone.iso", 1n << 40n)]);
const few = report(fewMade, {
  free: 1n << 41n,
  worth: all(fewMade).slice(1, 5).map(({ node, path }, index) => ({
    kind: (["old", "new", "rebuildable", "unreadable"] as const)[index]!, path, allocated: node.allocated, note: "made for a test",
  })),
  facts: {
    complete: { is: false, why: "2 directories could not be read" },
    errors: [{ path: { text: "/srv/secret" }, operation: "open", cause: "permission denied" }], errors_total: "2",
    space: [{ label: "used", bytes: "123", note: "with the rest" }, { label: "free", bytes: "12345678" }],
  },
});
const hostileMade = hostileTree();
const hostile = report(hostileMade, { facts: {
  host: { text: "</script><img src=x onerror=globalThis.hacked=4>" },
  errors: [{ path: { text: "/a\u202eb</script>\n" }, operation: "open", cause: "<b>x" }], errors_total: "1",
  owners: [{ id: 0, name: { text: "</script><b>root" }, allocated: String(hostileMade.allocated), apparent: String(hostileMade.apparent), entries: "20" }],
} });

/** The fastest of some attempts, as the machine of the limits would have it: other programs run beside the tests. */
async function fastest(attempts: number, below: number, measure: () => Promise<{ took: number; slow: number }>): Promise<number> {
  let best = Infinity;
  for (let attempt = 0; attempt < attempts && best >= below; attempt++) {
    const { took, slow } = await measure();
    console.log(`# ${took.toFixed(0)} ms on a machine that is ${slow.toFixed(2)} times as slow`);
    best = Math.min(best, took / slow);
  }
  return best;
}

test("150,000 nodes are painted in a second", inBrowser, async () => {
  const took = await fastest(6, 1000, async () => {
    const opened = await open(big);
    assert.deepEqual(opened.complaints, []);
    const paint = await opened.page.evaluate(() => {
      const painted = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity;
      return Math.max(painted, performance.getEntriesByName("statwalk-map")[0]?.startTime ?? Infinity);
    });
    const slow = await slowness(opened.page);
    await close(opened);
    return { took: paint, slow };
  });
  console.log(`# first paint with the map after ${took.toFixed(0)} ms`);
  assert.ok(took < 1000, `${took}`);
});

test("a zoom takes a tenth of a second", inBrowser, async () => {
  const opened = await open(big);
  const { page } = opened;
  await page.focus("#tree");
  await press(page, "ArrowDown");
  const took = await fastest(12, 100, async () => {
    const zoom = (key: string) => page.evaluate((key) => new Promise<number>((done) => {
      const start = performance.now();
      document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      const drawn = performance.now() - start;
      requestAnimationFrame(() => done(drawn));
    }), key);
    const inward = await zoom("Enter");
    const outward = await zoom("Backspace");
    return { took: Math.max(inward, outward), slow: await slowness(page) };
  });
  console.log(`# zoom in ${took.toFixed(0)} ms`);
  assert.ok(took < 100, `${took}`);
  await close(opened);
});

test("a zoom with motion ends where one without does", inBrowser, async () => {
  const pictures: string[] = [];
  for (const reducedMotion of ["reduce", "no-preference"] as const) {
    const opened = await open(middle, { reducedMotion });
    const { page } = opened;
    await page.focus("#tree");
    await press(page, "ArrowDown", "Enter");
    await page.waitForTimeout(400);
    pictures.push(await page.$eval("canvas.cells", (canvas) => (canvas as HTMLCanvasElement).toDataURL()));
    assert.ok(await page.isVisible("canvas.overlay"));
    await close(opened);
  }
  assert.equal(pictures[0], pictures[1]);
});

/** What the page says about pixels: the tooltip under a pointer there. */
function askPixels(page: Page, points: [number, number][]): Promise<string[]> {
  return page.evaluate((points) => {
    const map = document.getElementById("map")!;
    const { left, top } = map.getBoundingClientRect();
    const scale = (map.querySelector("canvas") as HTMLCanvasElement).width / map.getBoundingClientRect().width;
    return points.map(([x, y]) => {
      map.dispatchEvent(new PointerEvent("pointermove", {
        clientX: left + (x + 0.5) / scale, clientY: top + (y + 0.5) / scale, pointerType: "mouse", bubbles: true,
      }));
      const tooltip = document.querySelector(".tooltip")!;
      return `${tooltip.querySelector("strong")!.textContent} ${tooltip.querySelector("dd")!.textContent}`;
    });
  }, points);
}

for (const deviceScaleFactor of [1, 1.5, 2]) {
  test(`1,000 random pixels are what the layout says, at ${deviceScaleFactor} pixels to one`, inBrowser, async () => {
    const opened = await open(middle, { deviceScaleFactor });
    const { page } = opened;
    const [width, height] = await page.$eval("canvas.cells", (canvas) =>
      [(canvas as HTMLCanvasElement).width, (canvas as HTMLCanvasElement).height]) as [number, number];
    const tree = await treeOf(middleMade);
    const scale = deviceScaleFactor;
    const strip = Math.round(18 * scale);
    const layout = new Layout(tree, tree.root, {
      width, height, measure: "allocated",
      areaMin: (width * height > 4_000_000 ? 16 : 9) * scale * scale,
      strip: (w, h, depth) => (depth <= 3 && w >= 76 * scale && h >= 52 * scale ? strip : 0),
      border: Math.round(2 * scale),
    });
    const next = random(17);
    const points = Array.from({ length: 1000 }, (): [number, number] => [Math.floor(next() * width), Math.floor(next() * height)]);
    const answers = await askPixels(page, points);
    const kinds = new Set<number>();
    points.forEach(([x, y], at) => {
      const cell = layout.hit(x, y);
      const name = layout.cell[cell] === Cell.Rest ? smallerItems(layout.entries(cell)) : label(tree, layout.node[cell]!);
      kinds.add(layout.cell[cell]!);
      const expected = `${name} ${size(layout.bytes(cell))} (${layout.bytes(cell).toLocaleString("en-GB")} B)`;
      assert.equal(answers[at], expected, `pixel ${x} ${y}`);
    });
    assert.ok(kinds.has(Cell.Leaf) && kinds.has(Cell.Frame));
    assert.deepEqual(opened.complaints, []);
    await close(opened);
  });
}

test("hostile names do nothing", inBrowser, async () => {
  const opened = await open(hostile);
  const { page } = opened;
  for (const key of ["2", "3", "4", "1"]) await press(page, key);
  for (const tab of await page.$$("[role=tab]")) {
    await tab.click();
    await settled(page);
  }
  await press(page, "/");
  await page.keyboard.type("<");
  await settled(page);
  assert.equal(await page.evaluate(() => (globalThis as { hacked?: number }).hacked), undefined);
  assert.equal(await page.$$eval("img, iframe, object, embed", (found) => found.length), 0);
  assert.equal(await page.$$eval("script", (found) => found.length), 3, "meta, one block, the viewer");
  assert.deepEqual(opened.complaints, []);
  assert.deepEqual(opened.requests, []);
  await close(opened);
});

test("the policy of the page holds", inBrowser, async () => {
  const opened = await open(hostile);
  const { page } = opened;
  const refused = await page.evaluate(async () => {
    const said: string[] = [];
    document.addEventListener("securitypolicyviolation", (event) => said.push(event.effectiveDirective));
    const script = document.createElement("script");
    try { script.textContent = "globalThis.hacked = 5"; document.body.append(script); } catch { said.push("trusted-types"); }
    try { document.body.insertAdjacentHTML("beforeend", "<b>x</b>"); } catch { said.push("trusted-types"); }
    await fetch("https://example.org/").catch(() => said.push("fetch"));
    const image = new Image();
    image.src = "https://example.org/x.png";
    await new Promise((done) => setTimeout(done, 300));
    return said;
  });
  for (const wanted of ["trusted-types", "fetch", "connect-src", "img-src"]) assert.ok(refused.includes(wanted), `${wanted}: ${refused}`);
  assert.equal(await page.evaluate(() => (globalThis as { hacked?: number }).hacked), undefined);
  await close(opened);
});

test("every hostile path is copied exactly, and so are its commands", inBrowser, async () => {
  const opened = await open(hostile);
  const { page } = opened;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.focus("#tree");
  const expected = all(hostileMade).filter(({ node }) => node.kind < 4);
  const byName = new Map(expected.map(({ node, path }) => [shownName(node === hostileMade ? path : node.name), path]));
  // Expand all.
  await page.keyboard.press("ArrowDown");
  for (let step = 0; step < 200; step++) {
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Home");
  const copied = new Set<string>();
  const last = await page.$eval("#tree", (grid) => Number(grid.getAttribute("aria-rowcount")) - 1);
  assert.ok(last > 30);
  for (let row = 0; row < last; row++) {
    if (row > 0) await page.keyboard.press("ArrowDown");
    const name = await selected(page);
    const directories = await page.$$eval(".row.selected .quiet", (found) => found.length);
    await page.keyboard.press("m");
    const items = await page.$$eval("[role=menuitem] > span", (items) => items.map((item) => item.textContent));
    const pick = async (wanted: string) => {
      const at = items.findIndex((item) => item!.startsWith(wanted));
      assert.ok(at >= 0, `${name}: ${items}`);
      for (let step = 0; step < at; step++) await page.keyboard.press("ArrowDown");
      await page.evaluate(() => { document.querySelector(".toast")!.textContent = ""; });
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.querySelector(".toast")!.textContent !== "");
      return page.evaluate(() => navigator.clipboard.readText());
    };
    const path = await pick("Copy path");
    if (directories > 0) continue;
    const bytes = [...byName].find(([shown]) => shown === name)![1];
    const all = expected.filter(({ node, path }) => shownName(node === hostileMade ? path : node.name) === name).map(({ path }) => path);
    assert.ok(all.some((one) => path === copiedPath(one)), `${name}: ${JSON.stringify(path)} ${bytes}`);
    copied.add(path);
    await page.keyboard.press("m");
    const find = await pick("Copy find command");
    assert.ok(all.some((one) => find === `statwalk find ${shellWord(one)}`), find);
  }
  const missed = expected.map(({ path }) => copiedPath(path)).filter((path) => !copied.has(path));
  assert.deepEqual(missed, []);
  assert.deepEqual(opened.complaints, []);
  await close(opened);
});

test("a redacted report offers no paths and says so", inBrowser, async () => {
  const redacted = report(directory("/root-1", [file("file-1.iso", 1 << 20)]), { facts: { is_redacted: true, host: { text: "host" } } });
  const opened = await open(redacted);
  const { page } = opened;
  assert.match(await text(page, ".why"), /Names are replaced/);
  await page.focus("#tree");
  await press(page, "ArrowDown", "m");
  assert.ok(!(await page.isVisible("[role=menu]")));
  await close(opened);
});

test("an entry of the largest files is shown in the tree and on the map", inBrowser, async () => {
  const opened = await open(middle);
  const { page } = opened;
  await page.click("#tab-largest");
  const name = await text(page, ".panel-largest tbody tr:nth-child(3) .name:not(.where)");
  await page.click(".panel-largest tbody tr:nth-child(3) button");
  await settled(page);
  assert.equal(await selected(page), name);
  await page.click("#tab-tree");
  await settled(page);
  assert.equal(await text(page, ".row.selected .c-name .name"), name);
  await close(opened);
});

test("a legend entry fades the others and lights up under the pointer", inBrowser, async () => {
  const opened = await open(middle);
  const { page } = opened;
  const picture = () => page.$eval("canvas.cells", (canvas) => (canvas as HTMLCanvasElement).toDataURL());
  const first = await picture();
  await page.hover(".legend .entry:nth-child(2)");
  const lit = await picture();
  assert.notEqual(lit, first);
  await page.mouse.move(5, 5);
  assert.equal(await picture(), first);
  await page.click(".legend .entry:nth-child(2)");
  await page.mouse.move(5, 5);
  await settled(page);
  assert.equal(await page.getAttribute(".legend .entry:nth-child(2)", "aria-pressed"), "true");
  assert.notEqual(await picture(), first);
  assert.match(await text(page, "#found"), /^Lit: /);
  await page.click("#tab-types");
  await page.click("#panel-types table:nth-of-type(2) .link >> nth=0");
  assert.match(await text(page, "#found"), /, \./);
  await page.click("text=Clear");
  await page.mouse.move(5, 5);
  await settled(page);
  assert.equal(await picture(), first);
  await close(opened);
});

test("free space is a tile that can be shown", inBrowser, async () => {
  const opened = await open(middle);
  const { page } = opened;
  const asked = () => askPixels(page, Array.from({ length: 400 }, (_, at): [number, number] => [(at * 37) % 900, (at * 53) % 500]));
  assert.ok(!(await asked()).some((answer) => answer.startsWith("free space")));
  await page.check(".legend input");
  await settled(page);
  assert.ok((await asked()).some((answer) => answer.startsWith("free space")));
  await close(opened);
});

test("blocks of a full report are read when they are opened", inBrowser, async () => {
  // Everything two levels down is in a block of its own.
  const made = bigTree(60_000, 5);
  const cut = (node: Node, depth: number): Node =>
    depth === 2 && node.kind === 0 ? { ...whole(node), isApart: true }
      : { ...node, children: unhidden(node).map((child) => cut(child, depth + 1)), hidden: undefined };
  const whole = (node: Node): Node => ({ ...node, children: unhidden(node).map(whole), hidden: undefined });
  const full = report(cut(made, 0));
  assert.ok(full.blocks.length > 5);
  const opened = await open(full, { viewport: { width: 700, height: 500 } });
  const { page } = opened;
  await page.focus("#tree");
  await press(page, "ArrowDown", "ArrowRight", "ArrowRight");
  const start = Date.now();
  await press(page, "ArrowRight");
  await page.waitForSelector(".row[aria-level='4']");
  console.log(`# a cold block in ${Date.now() - start} ms, with the wait of the test`);
  await press(page, "2");
  assert.equal(await text(page, ".body .row[aria-level='1'] .c-disk"), size(made.allocated));
  assert.deepEqual(opened.complaints, []);
  await close(opened);
});

function unhidden(node: Node): Node[] {
  if (node.hidden === undefined) return node.children;
  const shown = [...node.children.filter((child) => child.kind !== 4), ...node.hidden];
  return shown.sort((a, b) => (a.allocated < b.allocated ? 1 : a.allocated > b.allocated ? -1 : 0));
}

test("a damaged file says what is wrong", inBrowser, async () => {
  const made = report(directory("/", [file("x", 1)]));
  const cut: Report = { facts: made.facts, blocks: [] };
  const wrong: Report = { facts: { ...made.facts, version: 3 }, blocks: made.blocks };
  for (const [broken, expected] of [[cut, /cut off/], [wrong, /version 3/]] as const) {
    const opened = await open(broken, { isBroken: true });
    assert.match(await text(opened.page, ".failed"), expected);
    await close(opened);
  }
});

test("unusual trees are shown", inBrowser, async () => {
  let deep: Node = file("end", 1 << 20);
  for (let depth = 0; depth < 2000; depth++) deep = directory("d", [deep]);
  const wide = directory("/wide", Array.from({ length: 50_000 }, (_, index) => file(`f${index}`, 4096 * (index % 7))));
  const shapes: [string, Node][] = [
    ["deep", deep], ["wide", wide], ["empty", directory("/", [], { allocated: 0n, apparent: 0n, children: [] })],
    ["one file", file("/one", 5)],
    ["beyond 2^53", directory("/", [file("a", 2n ** 64n + 3n), file("b", 2n ** 53n + 1n)])],
    ["empty files", directory("/", Array.from({ length: 50 }, (_, at) => file(`e${at}`, 0)))],
  ];
  for (const [name, shape] of shapes) {
    const opened = await open(report(shape));
    const { page } = opened;
    await page.focus("#tree");
    await press(page, "End", "Home", "ArrowDown", "Enter", "2", "c", "Backspace");
    assert.deepEqual(opened.complaints, [], name);
    assert.equal(await text(page, ".figure dd"), size(shape.allocated), name);
    await close(opened);
  }
});

// Accessibility.

test("rows and cells have the names of the pattern", inBrowser, async () => {
  const made = directory("/srv", [
    directory("usr", [file("a", 3 << 28), file("b", 1 << 28), file("c", 1 << 20)]),
    file("big.iso", 2_576_980_378n),
  ]);
  const opened = await open(report(made));
  const { page } = opened;
  const labels = await page.$$eval(".body .row", (rows) => rows.map((row) => row.getAttribute("aria-label")));
  assert.equal(labels[1], "big.iso, 2.40 gibibytes, 71 % of the total");
  assert.equal(labels[2], "usr, 1.00 gibibytes, 29 % of the total, 3 children");
  const levels = await page.$$eval(".body .row", (rows) => rows.map((row) =>
    ["aria-level", "aria-posinset", "aria-setsize", "aria-expanded"].map((name) => row.getAttribute(name)).join(" ")));
  assert.deepEqual(levels.slice(0, 3), ["1 1 1 true", "2 1 3 ", "2 2 3 true"]);
  await page.focus("#map");
  await press(page, "n", "n");
  const active = await page.evaluate(() => {
    const map = document.getElementById("map")!;
    const option = document.getElementById(map.getAttribute("aria-activedescendant")!);
    return [map.getAttribute("aria-label"), option?.textContent, option?.getAttribute("aria-selected")];
  });
  assert.match(active[0]!, /^Map of \/srv: 3\.40 gibibytes in \d+ cells/);
  assert.deepEqual(active.slice(1), ["a, 768 mebibytes, 22 % of the total", "true"]);
  await page.focus("#tree");
  await press(page, "Home");
  assert.ok(await page.evaluate(() => document.getElementById(document.getElementById("tree")!.getAttribute("aria-activedescendant")!) !== null));
  await close(opened);
});

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds in a part of the page. */
async function faults(page: Page, part = "body"): Promise<string[]> {
  return page.evaluate(async (part) => {
    const run = (globalThis as unknown as { axe: { run(part: string, options: object): Promise<{ violations: { impact: string; id: string; nodes: { html: string }[] }[] }> } }).axe;
    const { violations } = await run.run(part, { resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
  }, part);
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing serious in the ${colorScheme} theme`, inBrowser, async () => {
    for (const [sample, width, height] of [[few, 1600, 900], [hostile, 390, 844], [few, 2400, 1200]] as const) {
      const opened = await open(sample, { colorScheme, bypassCSP: true, viewport: { width, height } });
      const { page } = opened;
      await page.evaluate(axe);
      assert.deepEqual(await faults(page), [], `tree at ${width}`);
      const tabs = width === 1600 ? await page.$$("[role=tab]") : [];
      for (const tab of tabs) {
        await tab.click();
        await settled(page);
        assert.deepEqual(await faults(page, ".side"), [], `${await tab.textContent()} at ${width}`);
      }
      await press(page, "/");
      await page.keyboard.type("a");
      await press(page, "Enter", "m");
      assert.deepEqual(await faults(page, ".menu"), [], `menu at ${width}`);
      assert.deepEqual(await faults(page, ".filter"), [], `filter at ${width}`);
      await press(page, "Escape", "?");
      assert.deepEqual(await faults(page, "dialog"), [], `help at ${width}`);
      await close(opened);
    }
  });
}

test("nothing is cut off at 320 pixels and at 200 % zoom", inBrowser, async () => {
  for (const sample of [middle, hostile]) {
    for (const viewport of [{ width: 320, height: 640 }, { width: 800, height: 450 }, { width: 390, height: 844 }, { width: 1000, height: 600 }]) {
      const opened = await open(sample, { viewport });
      const { page } = opened;
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${viewport.width}: ${wide} pixels too wide`);
      const height = await page.$eval("#map", (map) => map.getBoundingClientRect().height);
      assert.ok(height >= 180, `the map has ${height} pixels at ${viewport.width}`);
      await close(opened);
    }
  }
});

test("forced colours, paper and larger text", inBrowser, async () => {
  const forced = await open(middle, { forcedColors: "active" });
  assert.deepEqual(forced.complaints, []);
  await press(forced.page, "c", "2");
  assert.deepEqual(forced.complaints, []);
  await close(forced);
  const printed = await open(middle);
  await printed.page.emulateMedia({ media: "print" });
  for (const id of ["largest", "types", "owners", "ages", "sizes", "errors", "space", "worth"]) {
    assert.ok(await printed.page.isVisible(`#panel-${id} .panel-title`), id);
  }
  const paper = await printed.page.pdf({ format: "A4" });
  assert.ok(paper.length > 20_000);
  await close(printed);
});

test("the page says what it is about", inBrowser, async () => {
  const opened = await open(middle, { viewport: { width: 2400, height: 1200 } });
  const { page } = opened;
  assert.equal(await text(page, "h1"), "/srv");
  assert.match(await text(page, ".sub"), /db3\.example\.org · 20 Nov 2026, 12:00 · statwalk report \/srv -o report\.html/);
  assert.match(await text(page, ".status"), /lower bound/);
  assert.match(await text(page, ".why"), /2 directories could not be read/);
  for (const title of ["Worth a look", "Largest files", "Types", "Owners", "Ages", "Sizes", "Errors", "The disk"]) {
    assert.ok(await page.isVisible(`h2:text-is("${title}")`), title);
  }
  assert.match(await text(page, "footer"), /nothing on this page changes or deletes a file/);
  assert.deepEqual(await way(page), ["/srv"]);
  assert.equal(await fragmentOf(page), "");
  await close(opened);
});
