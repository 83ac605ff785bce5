// SPDX-License-Identifier: MIT OR Apache-2.0

// The page in Firefox: what another engine can do otherwise.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { label, smallerItems } from "../src/describe";
import { Cell, Layout } from "../src/layout";
import { size } from "../src/size";
import { Firefox, inFirefox, KEYS } from "./firefox";
import { treeOf } from "./made";
import { bigTree, hostileTree, random, report } from "./sample";

const made = bigTree(12_000, 11);
const middle = report(made);
let started: Promise<Firefox> | undefined;
const firefox = () => (started ??= Firefox.start());
after(async () => (await started)?.close());

const WAY = '[...document.querySelectorAll(".crumbs li")].map((item) => item.textContent)';
const PICTURE = 'document.querySelector("canvas.cells").toDataURL()';
const SELECTED = 'document.querySelector(".selection strong")?.textContent ?? ""';

test("Firefox opens a report without a complaint or a request, and paints it", inFirefox, async () => {
  const page = await firefox();
  await page.open(middle);
  const colours = await page.ask<number>(`(() => {
    const canvas = document.querySelector("canvas.cells");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  })()`);
  assert.ok(colours > 10, `${colours} colours`);
  page.check();
  // It would hear of both.
  await page.ask('fetch("https://example.org/").catch(() => 0)');
  await page.ask('console.warn("heard")');
  const heard = page.takeComplaints();
  assert.ok(heard.includes("heard"), `${heard}`);
});

test("keys act in Firefox", inFirefox, async () => {
  const page = await firefox();
  await page.open(middle);
  const first = await page.ask<string>(PICTURE);
  await page.press("c");
  assert.equal(await page.ask("location.hash"), "#path=/&colour=age");
  assert.notEqual(await page.ask(PICTURE), first);
  await page.press("c", "c");
  assert.equal(await page.ask(PICTURE), first);
  await page.ask('document.getElementById("tree").focus()');
  await page.press(KEYS.ArrowDown, KEYS.Enter);
  assert.equal((await page.ask<string[]>(WAY)).length, 2);
  assert.notEqual(await page.ask(PICTURE), first);
  await page.press(KEYS.Backspace);
  assert.equal((await page.ask<string[]>(WAY)).length, 1);
  await page.ask('document.getElementById("map").focus()');
  await page.press("n");
  const largest = await page.ask<string>(SELECTED);
  await page.press("n");
  assert.notEqual(await page.ask(SELECTED), largest);
  await page.press("p");
  assert.equal(await page.ask(SELECTED), largest);
  await page.press("/");
  await page.press(..."photos");
  assert.match(await page.ask<string>('document.getElementById("found").textContent'), /matches/);
  assert.notEqual(await page.ask(PICTURE), first);
  await page.press(KEYS.Enter);
  assert.match((await page.ask<string[]>(WAY)).at(-1)!, /only “photos”/);
  await page.press(KEYS.Escape);
  assert.equal((await page.ask<string[]>(WAY)).length, 1);
  page.check();
});

test("100 random pixels are what the layout says in Firefox", inFirefox, async () => {
  const page = await firefox();
  await page.open(middle);
  const [width, height, left, top] = await page.ask<number[]>(`(() => {
    const canvas = document.querySelector("canvas.cells");
    const { left, top } = document.getElementById("map").getBoundingClientRect();
    return [canvas.width, canvas.height, left, top];
  })()`) as [number, number, number, number];
  const tree = await treeOf(made);
  const layout = new Layout(tree, tree.root, {
    width, height, measure: "allocated", areaMin: 9,
    strip: (w, h, depth) => (depth <= 3 && w >= 76 && h >= 52 ? 18 : 0),
    border: 2,
  });
  const next = random(23);
  for (let at = 0; at < 100; at++) {
    const [atX, atY] = [Math.ceil(left) + Math.floor(next() * (width - 1)), Math.ceil(top) + Math.floor(next() * (height - 1))];
    await page.point(atX, atY);
    const [x, y] = [atX - left, atY - top];
    const answer = await page.ask<string[]>('[...document.querySelector(".tooltip").querySelectorAll("strong, dd")].slice(0, 2).map((item) => item.textContent)');
    const cell = layout.hit(x, y);
    const name = layout.cell[cell] === Cell.Rest ? smallerItems(layout.entries(cell)) : label(tree, layout.node[cell]!);
    const bytes = layout.bytes(cell);
    assert.deepEqual(answer, [name, `${size(bytes)} (${bytes.toLocaleString("en-GB")} B)`], `pixel ${x} ${y}`);
  }
  page.check();
});

test("hostile names do nothing in Firefox", inFirefox, async () => {
  const page = await firefox();
  await page.open(report(hostileTree()));
  for (const key of ["2", "3", "4", "1"]) await page.press(key);
  assert.equal(await page.ask("globalThis.hacked ?? null"), null);
  assert.equal(await page.ask('document.querySelectorAll("img, iframe, object, embed").length'), 0);
  page.check();
});
