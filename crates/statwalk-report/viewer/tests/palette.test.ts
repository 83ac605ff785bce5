// SPDX-License-Identifier: MIT OR Apache-2.0

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { EDGE, HATCH, SHADE } from "../src/painter";
import { ageColours, categoryColour, groupColours, GROUPS, INK, mix, NO_FILE, OTHER, rgb, type Rgb } from "../src/palette";

type Triple = [number, number, number];

const linear = (byte: number) => {
  const part = byte / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
};

function oklab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** What eyes without one kind of cones see (Machado, Oliveira, Fernandes 2009, severity 1). */
const EYES: Record<string, [Triple, Triple, Triple]> = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function seen(colour: Rgb, eyes: string): Triple {
  const light = colour.map(linear) as Triple;
  return oklab(EYES[eyes]!.map((row) =>
    Math.min(1, Math.max(0, row[0] * light[0] + row[1] * light[1] + row[2] * light[2]))) as Triple);
}

const distance = (a: Rgb, b: Rgb, eyes: string) => {
  const [x, y] = [seen(a, eyes), seen(b, eyes)];
  return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
};

const luminance = (colour: Rgb) => {
  const [r, g, b] = colour.map(linear) as Triple;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a: Rgb, b: Rgb) => {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
};

test("groups differ for all eyes", () => {
  const all = [...GROUPS, OTHER];
  for (const eyes of Object.keys(EYES)) {
    // Those who lack the cones for blue are one in ten thousand.
    const least = eyes === "tritan" ? 0.055 : 0.075;
    all.forEach((a, at) => all.slice(0, at).forEach((b, other) =>
      assert.ok(distance(a, b, eyes) >= least, `${eyes}: ${at} and ${other} are ${distance(a, b, eyes)} apart`)));
  }
});

test("ages are in order for all eyes", () => {
  for (const count of [1, 2, 5, 7, 8, 12]) {
    const colours = ageColours(count);
    assert.equal(colours.length, count);
    for (const eyes of Object.keys(EYES)) {
      for (let at = 1; at < count; at++) {
        const [newer, older] = [seen(colours[at - 1]!, eyes)[0], seen(colours[at]!, eyes)[0]];
        assert.ok(newer > older, `${eyes}: ${at} of ${count}`);
        assert.ok(distance(colours[at - 1]!, colours[at]!, eyes) > 0.15 / count, `${eyes}: ${at} of ${count}`);
      }
    }
  }
});

test("text on cells has a contrast of 4.5", () => {
  for (const colour of [...GROUPS, ...ageColours(8), OTHER, NO_FILE]) {
    const shaded = mix(colour, [0, 0, 0], SHADE);
    assert.ok(contrast(INK, shaded) >= 4.5, `${colour}: ${contrast(INK, shaded)}`);
    // Names on hatched cells have a ground of their own; the hatching must still be seen.
    assert.ok(contrast(colour, mix(colour, [0, 0, 0], HATCH)) > 1.15);
    assert.ok(contrast(colour, mix(colour, [0, 0, 0], EDGE)) > 1.5);
  }
});

test("text of the page has a contrast of 4.5 in both themes", () => {
  const style = readFileSync(new URL("../../style.css", import.meta.url), "utf8");
  const [light, dark] = [style.indexOf(":root {"), style.indexOf("prefers-color-scheme: dark")];
  const usual = new Map<string, string>();
  for (const at of [light, dark]) {
    for (const [, name, value] of style.slice(at, style.indexOf("}", at)).matchAll(/(--[a-z0-9-]+): (#[0-9a-f]{6});/g)) {
      usual.set(name!, value!);
    }
    const pairs = [
      ["ink", "page"], ["ink", "card"], ["ink", "chosen"], ["ink", "hover"], ["ink", "soft"],
      ["quiet", "page"], ["quiet", "card"], ["quiet", "hover"], ["on-accent", "accent"],
      ["good", "good-ground"], ["warn", "warn-ground"], ["warn", "page"], ["warn", "card"],
      ["accent", "card"], ["map-ink", "map-frame"], ["map-ink", "map-frame-2"], ["map-ink", "map-free"],
    ];
    for (const [text, ground] of pairs) {
      const [a, b] = [usual.get(`--${text}`)!, usual.get(`--${ground}`)!];
      assert.ok(contrast(rgb(a), rgb(b)) >= 4.5, `${text} on ${ground}: ${contrast(rgb(a), rgb(b)).toFixed(2)}`);
    }
  }
});

test("a category has the same colour in every report, and what no name tells is neutral", () => {
  const keys = ["source", "video", "image", "archive", "database", "document", "package", "machine", "object", "log", "audio", "mail"];
  assert.deepEqual(keys.map(categoryColour), GROUPS);
  const kin = ["web", "design", "font", "cache", "data", "key", "temporary", "model", "configuration"].map(categoryColour);
  const neutral = ["other", "no_extension", "not_files"].map(categoryColour);
  assert.equal(new Set([...GROUPS, ...kin, ...neutral].map(String)).size, 24);
  for (const colour of kin) assert.ok(contrast(INK, mix(colour, [0, 0, 0], SHADE)) >= 4.5);
  for (const [red, green, blue] of neutral) assert.ok(Math.max(red, green, blue) - Math.min(red, green, blue) < 16);
});

test("the largest groups have colours of their own", () => {
  const bytes = Array.from({ length: 20 }, (_, at) => (at === 3 ? undefined : BigInt(1000 - at)));
  const colours = groupColours(bytes);
  assert.equal(colours[3], OTHER);
  const own = colours.filter((colour) => colour !== OTHER);
  assert.equal(new Set(own).size, GROUPS.length);
  assert.equal(own.length, GROUPS.length);
  assert.equal(groupColours([0n])[0], OTHER);
});
