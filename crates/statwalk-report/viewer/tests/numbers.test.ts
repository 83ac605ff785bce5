// SPDX-License-Identifier: MIT OR Apache-2.0

// The numbers on the page: none is cut, and each says what it is a number of.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { close, inBrowser, open, settled, text } from "./browser";
import { bigTree, directory, file, report, rest, type Node } from "./sample";

/** A tree whose sums are lower bounds, with as many entries as numbers have letters. */
function bounds(): Node {
  const names = Array.from({ length: 300 }, (_, index) => file(`number ${index}.${["mp4", "zip", "rs", "log"][index % 4]!}`, (index + 1) * 991_232));
  const many: Node = { ...directory("many", [file("a.mp4", 45_419_232_870n)]), entries: 123_456_789n, flags: 1 };
  const made = directory("/srv", [directory("isos", [file("iso-1.iso", 5 << 20), directory("iso", [file("iso-2.iso", 3 << 20)])]), directory("films", names), many, directory("shut", [], { flags: 2 })]);
  return { ...made, entries: 123_457_100n };
}

const bound = report(bounds(), { facts: {
  complete: { is: false, why: "1 entry could not be read" }, errors_total: "3",
  errors: [{ path: { text: "/srv/shut" }, operation: "open", cause: "permission denied" },
    { path: { text: "/srv/a" }, operation: "list", cause: "changed" }, { path: { text: "/srv/b" }, operation: "list", cause: "changed" }],
} });
const totals = bound.facts.totals as Record<string, string>;
Object.assign(totals, { errors: "3", changed: "2" });
const small = report(directory("/srv", [
  directory("isos", [file("iso-1.iso", 5 << 20), directory("iso", [file("iso-2.iso", 3 << 20)])]),
  directory("films", [file("a.mp4", 90 << 20), file("b.zip", 1 << 20)]), directory("texts", [file("c.md", 9 << 20)]),
]));
const summed = report(directory("/srv", [rest(directory("mixed", Array.from({ length: 40 }, (_, index) => file(`iso-${index}.iso`, (index + 1) << 20))), 5)]));

/** The cells with numbers that do not show all of their text. */
const cut = (page: Page): Promise<string[]> => page.evaluate(() => {
  const grid = document.querySelector(".grid")!.getBoundingClientRect();
  const found: string[] = [];
  for (const cell of document.querySelectorAll<HTMLElement>(".grid .row > div:not(.c-name)")) {
    if (cell.offsetParent === null || cell.textContent === "") continue;
    const range = document.createRange();
    range.selectNodeContents(cell);
    const [own, inside] = [cell.getBoundingClientRect(), range.getBoundingClientRect()];
    const isCut = inside.left < own.left - 1 || inside.right > own.right + 1 || own.right > grid.right + 1;
    if (isCut && !cell.classList.contains("c-owner")) {
      found.push(`${cell.className}: ${cell.textContent}, ${inside.left} to ${inside.right} of ${own.left} to ${own.right}`);
    }
  }
  return found;
});

test("no number is cut at any size", inBrowser, async () => {
  const opened = await open(bound);
  const { page } = opened;
  for (const [width, height] of [[2400, 1200], [1600, 900], [1200, 800], [1024, 768], [390, 844], [320, 640]] as const) {
    await page.setViewportSize({ width, height });
    await settled(page);
    for (const grouping of ["Tree", "Category", "Owner", "Age"]) {
      await page.click(`.segments button:text-is("${grouping}")`);
      await settled(page);
      assert.deepEqual(await cut(page), [], `${width}, by ${grouping}`);
    }
  }
  assert.deepEqual(opened.complaints, []);
  await close(opened);
});

test("a search counts every match, and says what a share is of", inBrowser, async () => {
  const opened = await open(small);
  const { page } = opened;
  await page.fill("#search", "iso");
  await page.waitForTimeout(100);
  await settled(page);
  assert.equal(await text(page, "#found"), "Lit: “iso”: 4 matches (3 of them inside of others), 8.01 MiB.");
  await page.press("#search", "Enter");
  await settled(page);
  assert.equal(await text(page, "#found"), "Only “iso”: 8.01 MiB, 7 % of the scan.");
  const facts = await page.$$eval(".selection .pair", (pairs) => pairs.map((pair) => pair.textContent));
  assert.ok(facts.includes("share 100 % of what matches “iso”"), facts.join("; "));
  const legend = await page.$$eval(".legend .entry:not([hidden])", (chips) => chips.map((chip) => chip.textContent));
  assert.deepEqual(legend, ["virtual machines and containers8.00 MiB", "directories, links and others8.00 KiB"]);
  await close(opened);
});

test("a legend tells of the view, and a chosen group of its files", inBrowser, async () => {
  const opened = await open(small);
  const { page } = opened;
  await page.click(".legend .entry:has-text('archives')");
  await settled(page);
  assert.equal(await text(page, "#found"), "Lit: archives: 1 file, 1.00 MiB");
  const faded = await page.$$eval(".body .row.faded[aria-level='2'] .c-name .name", (names) => names.map((name) => name.textContent));
  assert.deepEqual(faded, ["texts", "isos", "the directory itself"], "directories without an archive");
  await page.click(".filter button:has-text('Clear')");
  await page.dblclick(".body .row:has-text('films')");
  await settled(page);
  const legend = await page.$$eval(".legend .entry:not([hidden])", (chips) => chips.map((chip) => chip.textContent));
  assert.deepEqual(legend, ["video90.0 MiB", "archives1.00 MiB", "directories, links and others4.00 KiB"]);
  await close(opened);
});

test("the page says whether the file has every entry", inBrowser, async () => {
  for (const [made, foot, help, found] of [
    [small, "all 10 entries are in this file", "It has all 10 entries.", "."],
    [summed, "the rest is summed exactly", "smaller items are summed", ". The names of “smaller items” are not in this file."],
  ] as const) {
    const opened = await open(made);
    const { page } = opened;
    assert.ok((await text(page, "footer")).includes(foot), await text(page, "footer"));
    assert.ok((await text(page, ".help-dialog")).includes(help));
    await page.fill("#search", "iso");
    await page.waitForTimeout(100);
    await settled(page);
    assert.ok((await text(page, "#found")).endsWith(found), await text(page, "#found"));
    await close(opened);
  }
});

test("what changed and was read is not called unread", inBrowser, async () => {
  const opened = await open(bound);
  const { page } = opened;
  const figures = await page.$$eval(".figure", (figures) => figures.map((figure) => figure.textContent));
  assert.deepEqual(figures.slice(3), ["1not read", "2changed"]);
  await page.click("[role=tab]:has-text('Errors')");
  assert.equal(await text(page, "#panel-errors caption"),
    "1 path that statwalk could not read, 2 directories that changed while statwalk read them");
  await close(opened);
});

test("a tooltip goes with the map that it tells of", inBrowser, async () => {
  const opened = await open(report(bigTree(2000, 3)));
  const { page } = opened;
  const box = (await page.locator("#map").boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await settled(page);
  assert.ok(await page.isVisible(".tooltip"));
  await page.evaluate(() => { location.hash = "#by=age"; });
  await settled(page);
  assert.ok(!(await page.isVisible(".tooltip")));
  await close(opened);
});

test("on paper nothing lies over the rows of the tree, and a line tells of the others", inBrowser, async () => {
  const opened = await open(bound, { viewport: { width: 794, height: 1123 } });
  const { page } = opened;
  await page.evaluate(() => { location.hash = "#path=films"; });
  await settled(page);
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await settled(page);
  const { rows, last, below } = await page.evaluate(() => {
    const shown = [...document.querySelectorAll<HTMLElement>(".body .row")];
    const panels = [...document.querySelectorAll<HTMLElement>(".others .panel")].filter((panel) => panel.offsetHeight > 0);
    return {
      rows: shown.length, last: shown[shown.length - 1]!.textContent,
      below: panels[0]!.getBoundingClientRect().top - shown[shown.length - 1]!.getBoundingClientRect().bottom,
    };
  });
  assert.equal(rows, 81);
  assert.equal(last, "… 222 more");
  assert.ok(below >= 0, `${below}`);
  await close(opened);
});

test("apparent sizes make shares and the order where nothing has blocks", inBrowser, async () => {
  const bare = (name: string, apparent: number): Node => file(name, 0, { apparent: BigInt(apparent) });
  const opened = await open(report(directory("/phone", [bare("a.mp4", 1 << 20), bare("b.zip", 3 << 20)], { allocated: 0n })));
  const { page } = opened;
  await settled(page);
  const { rows, map, why, measure } = await page.evaluate(() => ({
    rows: [...document.querySelectorAll<HTMLElement>(".body .row")].map((row) => row.textContent),
    map: document.querySelector(".tools")!.textContent,
    why: document.querySelector(".why")?.textContent,
    measure: [...document.querySelectorAll<HTMLSelectElement>("select")].map(({ value }) => value),
  }));
  assert.match(why ?? "", /^No file here has blocks on disk/);
  assert.ok(measure.includes("apparent"), `${measure} ${map}`);
  const [, first, second] = rows;
  assert.match(first!, /b\.zip.*75/s);
  assert.match(second!, /a\.mp4.*25/s);
  await close(opened);
  // With blocks there is no such sentence.
  const usual = await open(small);
  await settled(usual.page);
  assert.equal(await usual.page.evaluate(() => document.querySelector(".why")?.textContent), undefined);
  await close(usual);
});
