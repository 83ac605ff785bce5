// SPDX-License-Identifier: MIT OR Apache-2.0

// The colours of the map. A search over OKLab chose those of groups so that any two differ,
// for eyes that lack one kind of cones as well, and so that black text is readable on all;
// tests/palette.test.ts measures both.

export type Rgb = readonly [red: number, green: number, blue: number];

export const GROUPS: Rgb[] = [
  "#6aa0ff", "#cd6a00", "#9fc586", "#9472d7", "#e0b725", "#c87c6e",
  "#73bffd", "#c59c3d", "#668ea6", "#abe99c", "#59e2ff", "#fed14a",
].map(rgb);

/** Groups beyond those that have a colour. */
export const OTHER = rgb("#c8c8c8");
/** What is no file. */
export const NO_FILE = rgb("#a0a6ae");

/** From the newest to the oldest: even steps in lightness, which all eyes can order. */
const AGES: Rgb[] = ["#f8ed71", "#bcec86", "#7ee6a5", "#41dac2", "#22c8d8", "#44b1e2", "#6899dd", "#8082cb"].map(rgb);

/** The colour of text on every cell. */
export const INK: Rgb = rgb("#0b0d10");

export function ageColours(count: number): Rgb[] {
  return Array.from({ length: count }, (_, index) => {
    const at = count < 2 ? 0 : (index * (AGES.length - 1)) / (count - 1);
    const low = AGES[Math.floor(at)]!;
    return mix(low, AGES[Math.ceil(at)]!, at - Math.floor(at));
  });
}

/** The categories that fill disks: each has a colour of its own, the same in all reports. */
const CATEGORIES: Record<string, number> = {
  source: 0, video: 1, image: 2, archive: 3, database: 4, document: 5,
  package: 6, machine: 7, object: 8, log: 9, audio: 10, mail: 11,
};
/** Those that seldom do are a tint of one that is kin. */
const KIN: Record<string, string> = {
  web: "source", design: "video", font: "image", cache: "archive", data: "database", key: "document",
  temporary: "package", model: "machine", configuration: "object",
};
const TINT = 0.5;
const WHITE: Rgb = [255, 255, 255];
const NO_EXTENSION = rgb("#dbdad4");

/** The colour of a category by its key. What no name tells is neutral. */
export function categoryColour(key: string): Rgb {
  if (key === "not_files") return NO_FILE;
  if (key === "no_extension") return NO_EXTENSION;
  const own = CATEGORIES[key];
  if (own !== undefined) return GROUPS[own]!;
  const kin = CATEGORIES[KIN[key] ?? ""];
  return kin === undefined ? OTHER : mix(GROUPS[kin]!, WHITE, TINT);
}

/** A colour for each group, by bytes: the largest have one of their own. `undefined` is none. */
export function groupColours(bytes: (bigint | undefined)[]): Rgb[] {
  const colours: Rgb[] = bytes.map(() => OTHER);
  const sized = bytes.flatMap((sum, at) => (sum === undefined || sum === 0n ? [] : [{ sum, at }]));
  sized.sort((a, b) => (a.sum > b.sum ? -1 : a.sum < b.sum ? 1 : a.at - b.at));
  sized.slice(0, GROUPS.length).forEach(({ at }, slot) => { colours[at] = GROUPS[slot]!; });
  return colours;
}

export function rgb(text: string): Rgb {
  const value = Number.parseInt(text.trim().slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export function css([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}

export function mix(from: Rgb, to: Rgb, part: number): Rgb {
  const between = (a: number, b: number) => Math.round(a + (b - a) * part);
  return [between(from[0], to[0]), between(from[1], to[1]), between(from[2], to[2])];
}
