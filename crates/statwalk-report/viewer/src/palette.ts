// SPDX-License-Identifier: MIT OR Apache-2.0

// The colours of the map. A search over OKLab chose those of groups so that any two differ,
// for eyes that lack one kind of cones as well, and so that black text is readable on all;
// tests/palette.test.ts measures both.

export type Rgb = readonly [red: number, green: number, blue: number];

export const GROUPS: Rgb[] = [
  "#72b8fe", "#c97248", "#22a288", "#e6c863", "#b29cc5",
  "#90bb8d", "#cc9b3b", "#8780d4", "#b3edae", "#77efff",
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

/** Slots that categories like to have, so that two reports look alike. */
const PREFERRED: Record<string, number> = {
  source: 0, video: 1, image: 2, database: 3, archive: 4, package: 5, machine: 6, object: 7,
  document: 8, log: 9, audio: 2, model: 1, data: 8, cache: 9, web: 0, mail: 3, temporary: 4,
};

/**
 * A colour for each group, given by bytes: the largest choose first.
 * `fixed` has the groups that are none.
 */
export function groupColours(
  groups: { key: string; bytes: bigint; fixed?: Rgb | undefined }[],
): Rgb[] {
  const colours: Rgb[] = groups.map((group) => group.fixed ?? OTHER);
  const order = groups
    .map((_, index) => index)
    .filter((index) => groups[index]!.fixed === undefined && groups[index]!.bytes > 0n)
    .sort((a, b) => (groups[a]!.bytes > groups[b]!.bytes ? -1 : groups[a]!.bytes < groups[b]!.bytes ? 1 : a - b))
    .slice(0, GROUPS.length);
  const free = new Set(GROUPS.keys());
  const late: number[] = [];
  for (const index of order) {
    const slot = PREFERRED[groups[index]!.key];
    if (slot !== undefined && free.delete(slot)) colours[index] = GROUPS[slot]!;
    else late.push(index);
  }
  for (const index of late) {
    const [slot] = free;
    free.delete(slot!);
    colours[index] = GROUPS[slot!]!;
  }
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
