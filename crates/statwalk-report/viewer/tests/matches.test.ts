// SPDX-License-Identifier: MIT OR Apache-2.0

// The list of matches, the legend of what is lit, and the heads of what is worth a look.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { close, inBrowser, open, press, selected, settled, way } from "./browser";
import { directory, file, HOSTILE, report } from "./sample";

const tree = directory("/srv", [
  directory("work", [
    directory("node_modules", [file("deep module.js", 5 << 20)]),
    directory("far", [directory("node_modules", [file("b.js", 9 << 20)])]),
  ]),
  directory("films", [file("a.mp4", 90 << 20), file("module.mp4", 7 << 20)]),
]);

const find = async (page: Page, text: string) => {
  await page.fill("#search", text);
  await page.waitForTimeout(90);
  await settled(page);
};

test("keys walk through the matches, the largest first", inBrowser, async () => {
  const opened = await open(report(tree));
  const { page } = opened;
  await find(page, "module");
  const rows = await page.$$eval(".matches [role=option]", (options) => options.map((option) => option.textContent));
  assert.deepEqual(rows, ["node_moduleswork/far9.00 MiB", "module.mp4films7.00 MiB", "node_moduleswork5.00 MiB", "deep module.jswork/node_modules5.00 MiB"]);
  await press(page, "ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "matches");
  assert.equal(await selected(page), "node_modules");
  await press(page, "ArrowDown");
  assert.equal(await selected(page), "module.mp4");
  assert.equal(await page.getAttribute("#matches", "aria-activedescendant"), "match-1");
  // The tree has the row in sight.
  assert.equal(await page.textContent(".body .row.selected .c-name .name"), "module.mp4");
  await press(page, "Enter");
  assert.deepEqual(await way(page), ["/srv", "films"]);
  // A match elsewhere is shown where it is.
  await press(page, "ArrowUp");
  assert.deepEqual(await way(page), ["/srv"]);
  await press(page, "ArrowUp");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "search");
  await press(page, "Escape");
  assert.ok(!(await page.isVisible(".matches")));
  assert.deepEqual(opened.complaints, []);
  await close(opened);
});

test("after Enter the tree is open down to the matches, and no further", inBrowser, async () => {
  const opened = await open(report(tree));
  const { page } = opened;
  await find(page, "node_modules");
  await page.press("#search", "Enter");
  await settled(page);
  const rows = await page.$$eval(".body .row .c-name .name", (names) => names.map((name) => name.textContent));
  assert.deepEqual(rows, ["/srv", "work", "far", "node_modules", "node_modules"]);
  await close(opened);
});

test("names that try to be code are text in the list", inBrowser, async () => {
  const opened = await open(report(directory("/<b>srv", [directory("<i>x", HOSTILE.map((name, at) => file(name, 4096 * (at + 1))))])));
  const { page } = opened;
  await find(page, "*");
  assert.equal(await page.locator(".matches [role=option]").count(), HOSTILE.length + 1);
  assert.equal(await page.locator(".matches :is(b, i, img, script, style)").count(), 0);
  assert.equal(await page.evaluate(() => (globalThis as { hacked?: number }).hacked), undefined);
  await close(opened);
});

test("the legend has the sums of what is lit, and keeps the choice of its own", inBrowser, async () => {
  const opened = await open(report(tree));
  const { page } = opened;
  const legend = () => page.$$eval(".legend .entry", (chips) => chips.map((chip) => chip.textContent));
  const whole = await legend();
  await find(page, "module");
  assert.deepEqual(await legend(), ["no extension14.0 MiB", "video7.00 MiB", "directories, links and others8.00 KiB"]);
  await find(page, "");
  await page.click(".legend .entry:has-text('video')");
  await settled(page);
  // Another can be chosen beside it.
  assert.deepEqual(await legend(), whole);
  await page.selectOption("select[title^=Colour]", "owner");
  await settled(page);
  assert.deepEqual(await legend(), ["root97.0 MiB"]);
  await close(opened);
});

test("what is worth a look says how many there are, and shows them all", inBrowser, async () => {
  const path = (text: string) => new TextEncoder().encode(text);
  const made = report(tree, {
    worth: [{ kind: "rebuildable", path: path("/srv/work/far/node_modules"), allocated: 9n << 20n, note: "npm install makes it again" }],
    facts: {
      rebuildable: {
        count: "2", allocated: String(14 << 20),
        largest: ["/srv/work/far/node_modules", "/srv/work/node_modules"].map((text, at) => ({
          kind: "rebuildable", path: { text }, allocated: String((9 - at * 4) << 20), note: "npm install makes it again" })),
      },
    },
  });
  const opened = await open(made);
  const { page } = opened;
  await page.click("[role=tab]:has-text('Worth')");
  assert.equal(await page.textContent(".worth-head span"), "2 directories that a program makes again: 14.0 MiB");
  assert.equal(await page.locator(".worth li").count(), 1);
  await page.click(".worth-head button:text-is('Show all 2')");
  assert.equal(await page.locator(".worth li").count(), 2);
  await page.click(".worth li:nth-child(2) .link");
  assert.equal(await selected(page), "node_modules");
  await close(opened);
});
