// SPDX-License-Identifier: MIT OR Apache-2.0

// Each key, pressed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { close, fragmentOf, inBrowser, open, press, selected, settled, text, way } from "./browser";
import { directory, file, report, rest, type Node } from "./sample";

const MIB = 1 << 20;
const made = (): Node => directory("/srv", [
  directory("films", [
    file("long.mkv", 400 * MIB), file("short.mp4", 100 * MIB),
    directory("raw", [file("a.mkv", 60 * MIB), file("b.mkv", 30 * MIB)], { owner: 1 }),
  ]),
  rest(directory("pictures", [
    file("sea.jpg", 90 * MIB, { owner: 1 }), file("sky.png", 80 * MIB),
    ...Array.from({ length: 50 }, (_, index) => file(`tiny-${index}.jpg`, 4096)),
  ]), 3),
  file("notes.md", 20 * MIB),
]);
const sample = report(made(), { free: 500n << 20n });

const focused = (page: import("playwright-core").Page) =>
  page.evaluate(() => document.activeElement?.id || document.activeElement?.className || "");

test("arrows, Enter and Backspace in the tree", inBrowser, async () => {
  const opened = await open(sample);
  const { page } = opened;
  await page.focus("#tree");
  await press(page, "ArrowDown");
  assert.equal(await selected(page), "films");
  assert.equal(await page.getAttribute(".row.selected", "aria-expanded"), "true", "the largest is open by itself");
  await press(page, "ArrowLeft", "ArrowDown");
  assert.equal(await selected(page), "pictures");
  assert.equal(await page.getAttribute(".row.selected", "aria-expanded"), "true", "and the next, as there is room");
  await press(page, "ArrowUp", "ArrowRight");
  assert.equal(await page.getAttribute(".row.selected", "aria-expanded"), "true");
  await press(page, "ArrowRight");
  assert.equal(await selected(page), "long.mkv");
  await press(page, "ArrowLeft");
  assert.equal(await selected(page), "films");
  await press(page, "ArrowLeft");
  assert.equal(await page.getAttribute(".row.selected", "aria-expanded"), "false");
  await press(page, "ArrowLeft");
  assert.equal(await selected(page), "/srv");
  await press(page, "End");
  assert.equal(await selected(page), "the directory itself");
  await press(page, "Home", "PageDown");
  assert.equal(await selected(page), "the directory itself");
  await press(page, "PageUp");
  assert.equal(await selected(page), "/srv");
  await press(page, "ArrowDown", "Enter");
  assert.deepEqual(await way(page), ["/srv", "films"]);
  assert.equal(await fragmentOf(page), "#path=/films");
  await press(page, "Backspace");
  assert.deepEqual(await way(page), ["/srv"]);
  assert.equal(await selected(page), "films", "what was left stays selected");
  assert.deepEqual(opened.complaints, []);
  await close(opened);
});

test("the row of the cursor is in sight, wherever it goes", inBrowser, async () => {
  const many = report(directory("/srv", [
    directory("few", [file("one", 7 * MIB)]),
    directory("many", Array.from({ length: 5_000 }, (_, index) => file(`f${index}`, 900 * MIB - index * 4096))),
  ]));
  const opened = await open(many);
  const { page } = opened;
  /** Checks that the table shows the selected row, and says whether there is a row in its middle. */
  const isInSight = async (where: string) => {
    const found = await page.evaluate(() => {
      const grid = document.querySelector("#tree")!.getBoundingClientRect();
      const head = document.querySelector("#tree .head")!.getBoundingClientRect();
      const row = document.querySelector("#tree .selected")?.getBoundingClientRect();
      const middle = document.elementFromPoint(grid.left + 60, (head.bottom + grid.bottom) / 2);
      return {
        above: row === undefined ? Infinity : head.bottom - row.top, below: row === undefined ? Infinity : row.bottom - grid.bottom,
        isFilled: middle?.closest(".row") !== null,
      };
    });
    assert.ok(found.above <= 1 && found.below <= 1, `${where}: ${JSON.stringify(found)}`);
    return found.isFilled;
  };
  await page.focus("#tree");
  await press(page, "ArrowDown", "Enter");
  assert.deepEqual(await way(page), ["/srv", "many"]);
  for (const key of ["End", "PageUp", "PageUp", "ArrowUp", "Home", "PageDown", "ArrowDown", "End"]) {
    await press(page, key);
    assert.ok(await isInSight(key), `${key}: the table is empty`);
  }
  // A directory with fewer rows scrolls back.
  await press(page, "Backspace");
  await isInSight("Backspace");
  await press(page, "Enter", "End");
  await page.evaluate(() => { document.documentElement.style.fontSize = "22px"; });
  await settled(page);
  await press(page, "ArrowUp", "ArrowDown");
  assert.ok(await isInSight("larger text"), "larger text: the table is empty");
  await page.evaluate(() => { document.querySelector("#tree")!.scrollTop = 60_000; });
  await settled(page);
  await press(page, "ArrowUp");
  assert.ok(await isInSight("after scrolling"), "after scrolling: the table is empty");
  await page.setViewportSize({ width: 900, height: 500 });
  await settled(page);
  await press(page, "Home", "End");
  assert.ok(await isInSight("a smaller window"), "a smaller window: the table is empty");
  assert.deepEqual(opened.complaints, []);
  await close(opened);
});

test("the border between table and map moves, by keys and by the pointer", inBrowser, async () => {
  const opened = await open(sample);
  const { page } = opened;
  const width = () => page.$eval(".side", (side) => (side as HTMLElement).offsetWidth);
  const usual = await width();
  await page.focus(".divider");
  const value = await page.getAttribute(".divider", "aria-valuenow");
  await press(page, "ArrowRight", "ArrowRight", "ArrowRight");
  assert.equal(await width(), usual + 72);
  assert.ok(Number(await page.getAttribute(".divider", "aria-valuenow")) > Number(value));
  assert.deepEqual(await way(page), ["/srv"]);
  const { x, y, width: thick, height } = (await (await page.$(".divider"))!.boundingBox())!;
  await page.mouse.move(x + thick / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + thick / 2 - 300, y + height / 2, { steps: 3 });
  await page.mouse.up();
  await settled(page);
  assert.ok(Math.abs(await width() - (usual + 72 - 300)) <= 1);
  // Neither side goes away.
  await page.focus(".divider");
  for (let step = 0; step < 60; step++) await page.keyboard.press("ArrowLeft");
  assert.equal(await width(), 220);
  await press(page, "Home");
  assert.equal(await width(), usual);
  assert.deepEqual(opened.complaints, []);
  await close(opened);
});

test("a tooltip names the directories between the view and a cell", inBrowser, async () => {
  const opened = await open(sample);
  const { page } = opened;
  const { x, y, width, height } = (await (await page.$(".map"))!.boundingBox())!;
  const ways = new Set<string>();
  for (let at = 0; at < 400; at++) {
    await page.mouse.move(x + ((at % 20) + 0.5) * (width / 20), y + (Math.floor(at / 20) + 0.5) * (height / 20));
    const told = await page.$eval(".tooltip", (tooltip) => {
      const between = tooltip.querySelector(".way")?.textContent ?? "";
      return `${between}: ${tooltip.querySelector("strong")?.textContent}`;
    });
    ways.add(told);
  }
  for (const way of ["films › raw: a.mkv", "films: long.mkv", "pictures: sea.jpg", ": notes.md"]) {
    assert.ok(ways.has(way), `${way} in ${[...ways].join("; ")}`);
  }
  await close(opened);
});

test("n, p, arrows, Enter and Backspace on the map; Tab leaves it", inBrowser, async () => {
  const opened = await open(sample);
  const { page } = opened;
  await page.focus("#map");
  const bySize = ["long.mkv", "short.mp4", "sea.jpg", "sky.png", "a.mkv", "b.mkv", "notes.md"];
  for (const name of bySize) {
    await press(page, "n");
    assert.equal(await selected(page), name);
  }
  await press(page, "p");
  assert.equal(await selected(page), "b.mkv");
  await press(page, "Home");
  assert.equal(await selected(page), "long.mkv");
  await press(page, "End");
  assert.notEqual(await selected(page), "long.mkv");
  await press(page, "Home");
  // Around the cell lie others, and the opposite arrow leads back.
  let moved = 0;
  for (const [there, back] of [["ArrowRight", "ArrowLeft"], ["ArrowDown", "ArrowUp"]] as const) {
    await press(page, there);
    if (await selected(page) === "long.mkv") continue;
    moved += 1;
    await press(page, back);
    assert.notEqual(await selected(page), "/srv");
    await press(page, "Home");
  }
  assert.ok(moved > 0);
  await press(page, "PageUp");
  assert.equal(await selected(page), "films");
  await press(page, "PageDown");
  assert.equal(await selected(page), "long.mkv");
  await press(page, "Enter");
  assert.deepEqual(await way(page), ["/srv", "films"]);
  assert.equal(await focused(page), "map");
  await press(page, "Backspace");
  assert.deepEqual(await way(page), ["/srv"]);
  await press(page, "Tab");
  assert.notEqual(await focused(page), "map");
  await press(page, "Shift+Tab", "Shift+Tab");
  assert.notEqual(await focused(page), "map");
  assert.deepEqual(opened.complaints, []);
  await close(opened);
});

test("c goes to the next colour", inBrowser, async () => {
  const opened = await open(sample);
  const { page } = opened;
  const colour = () => page.$eval(".tools label:nth-of-type(1) select", (select) => (select as HTMLSelectElement).value);
  const picture = () => page.$eval("canvas.cells", (canvas) => (canvas as HTMLCanvasElement).toDataURL());
  assert.equal(await colour(), "category");
  const first = await picture();
  await press(page, "c");
  assert.equal(await colour(), "age");
  assert.equal(await fragmentOf(page), "#path=/&colour=age");
  assert.match(await text(page, ".legend"), /last year/);
  assert.notEqual(await picture(), first);
  await press(page, "c");
  assert.equal(await colour(), "owner");
  assert.match(await text(page, ".legend"), /kim/);
  await press(page, "c");
  assert.equal(await picture(), first, "the cells have not moved");
  await close(opened);
});

test("digits regroup the same bytes", inBrowser, async () => {
  const opened = await open(sample);
  const { page } = opened;
  const rows = () => page.$$eval(".body .row[aria-level='2'] .c-name .name", (names) => names.map((name) => name.textContent));
  const total = () => text(page, ".body .row[aria-level='1'] .c-disk");
  const before = await total();
  await press(page, "2");
  assert.deepEqual((await rows()).slice(0, 2), ["video", "images"]);
  assert.equal(await total(), before);
  assert.equal(await fragmentOf(page), "#path=/&by=category");
  await press(page, "3");
  assert.deepEqual(await rows(), ["root", "kim"]);
  assert.equal(await total(), before);
  await press(page, "4");
  assert.deepEqual(await rows(), ["last year", "directories, links and others"]);
  assert.equal(await total(), before);
  await press(page, "1");
  assert.deepEqual((await rows()).slice(0, 2), ["films", "pictures"]);
  // Of a directory, what is mixed stays apart.
  await page.focus("#tree");
  await press(page, "Home", "ArrowDown", "ArrowLeft", "ArrowDown", "Enter", "2");
  assert.deepEqual(await way(page), ["/srv", "pictures", "by category"]);
  assert.deepEqual(await rows(), ["images", "smaller items of several kinds"]);
  await press(page, "Backspace");
  assert.deepEqual(await way(page), ["/srv", "pictures"]);
  assert.deepEqual(opened.complaints, []);
  await close(opened);
});

test("/ fades what does not match, Enter keeps the matches, Escape shows all", inBrowser, async () => {
  const opened = await open(sample);
  const { page } = opened;
  const picture = () => page.$eval("canvas.cells", (canvas) => (canvas as HTMLCanvasElement).toDataURL());
  const first = await picture();
  await press(page, "/");
  assert.equal(await focused(page), "search");
  await page.keyboard.type("raw");
  await settled(page);
  assert.match(await text(page, "#found"), /1 match, 90\.0 MiB/);
  assert.notEqual(await picture(), first);
  assert.match((await page.getAttribute(".body .row:nth-child(3)", "class"))!, /faded/);
  assert.doesNotMatch((await page.getAttribute(".body .row:nth-child(2)", "class"))!, /faded/);
  await press(page, "Enter");
  assert.deepEqual(await way(page), ["/srv", "only “raw”"]);
  assert.equal(await text(page, ".body .row[aria-level='1'] .c-disk"), "90.0 MiB");
  assert.equal(await focused(page), "tree");
  await press(page, "Escape");
  assert.deepEqual(await way(page), ["/srv"]);
  assert.equal(await picture(), first);
  await press(page, "/");
  await page.keyboard.type("sea");
  await settled(page);
  await press(page, "Escape");
  assert.equal(await picture(), first);
  assert.equal(await page.inputValue("#search"), "");
  // Keys that are letters do nothing else in the field.
  await press(page, "/");
  await page.keyboard.type("c2m?/");
  assert.equal(await page.inputValue("#search"), "c2m?/");
  assert.equal(await fragmentOf(page), "");
  await close(opened);
});

test("Back undoes a zoom, and the address brings the view back", inBrowser, async () => {
  const opened = await open(sample);
  const { page } = opened;
  await page.focus("#tree");
  await press(page, "ArrowDown", "Enter", "ArrowDown", "ArrowDown", "ArrowDown", "Enter", "c");
  assert.deepEqual(await way(page), ["/srv", "films", "raw"]);
  assert.equal(await fragmentOf(page), "#path=/films/raw&colour=age");
  const address = page.url();
  await page.goBack();
  await settled(page);
  assert.deepEqual(await way(page), ["/srv", "films"]);
  assert.equal(await selected(page), "raw");
  await page.goBack();
  await settled(page);
  assert.deepEqual(await way(page), ["/srv"]);
  await page.goForward();
  await settled(page);
  assert.deepEqual(await way(page), ["/srv", "films"]);
  await page.goto("about:blank");
  await page.goto(address);
  await settled(page);
  assert.deepEqual(await way(page), ["/srv", "films", "raw"]);
  assert.match(await text(page, ".legend"), /last year/);
  await page.goto("about:blank");
  await page.goto(address.replace(/#.*/, "#path=/&by=owner&in=kim/films&size=apparent"));
  await settled(page);
  assert.deepEqual(await way(page), ["/srv", "by owner", "kim", "films"]);
  // An address of another report shows what there is.
  await page.goto("about:blank");
  await page.goto(address.replace(/#.*/, "#path=/films/gone/%FF&by=x&colour=%"));
  await settled(page);
  assert.deepEqual(await way(page), ["/srv", "films"]);
  assert.deepEqual(opened.complaints, []);
  await close(opened);
});

test("? shows the keys, Escape closes them", inBrowser, async () => {
  const opened = await open(sample);
  const { page } = opened;
  await press(page, "?");
  assert.ok(await page.isVisible(".help-dialog"));
  await press(page, "2");
  assert.deepEqual(await way(page), ["/srv"]);
  await press(page, "Escape");
  assert.ok(!(await page.isVisible(".help-dialog")));
  await close(opened);
});

test("every control can be reached and left by Tab", inBrowser, async () => {
  const opened = await open(sample);
  const { page } = opened;
  const seen: string[] = [];
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === null || element === document.body) return "";
      return element.id || element.getAttribute("aria-label") || element.textContent || element.tagName;
    });
    if (at === "" || (seen.length > 0 && at === seen[0])) break;
    seen.push(at);
  }
  for (const wanted of ["tree", "map", "search", "tab-tree", "Keys"]) assert.ok(seen.includes(wanted), `${wanted}: ${seen}`);
  assert.ok(seen.indexOf("search") < seen.indexOf("tree") && seen.indexOf("tree") < seen.indexOf("map"));
  assert.ok(seen.length < 60, "the end is reached");
  await close(opened);
});

test("arrows choose tabs", inBrowser, async () => {
  const opened = await open(sample);
  const { page } = opened;
  await page.focus("#tab-tree");
  await press(page, "ArrowRight");
  assert.ok(await page.isVisible("#panel-largest"));
  assert.ok(!(await page.isVisible("#panel-tree")));
  await press(page, "End");
  assert.ok(await page.isVisible("#panel-sizes"));
  await press(page, "ArrowRight");
  assert.ok(await page.isVisible("#panel-tree"));
  await close(opened);
});
