// SPDX-License-Identifier: MIT OR Apache-2.0

// What the colours of the map mean: the groups of one property, their colours and sums.

import { NOT_FILES, type Facts } from "./facts";
import { shownText } from "./name";
import { type Ages, type Property, propertyOf } from "./filter";
import { ownerName } from "./grouping";
import { Cell, each, type Layout } from "./layout";
import { ageColours, categoryColour, groupColours, NO_FILE, OTHER, type Rgb } from "./palette";

export type Colour = "category" | "age" | "owner";
export const COLOURS: Colour[] = ["category", "age", "owner"];

export interface LegendEntry {
  /** The value of the property. */
  value: number;
  label: string;
  colour: Rgb;
  allocated: bigint;
  apparent: bigint;
  count: bigint;
}

/** Groups of a property with their sums over the whole scan. */
export function entriesOf(property: Property, facts: Facts): LegendEntry[] {
  switch (property) {
    case "category":
      return facts.categories.map((category, value) =>
        entry(category, value, category.label, categoryColour(category.key), category.files));
    case "owner": {
      const colours = groupColours(facts.owners.map(({ name, id, allocated }) =>
        (name === undefined && id === undefined ? undefined : allocated)));
      return facts.owners.map((owner, value) => entry(owner, value, ownerName(facts, value), colours[value]!, owner.entries));
    }
    case "age": {
      const isTime = ({ from_s, to_s }: Facts["ages"][number]) => from_s !== undefined || to_s !== undefined;
      // From the newest to the oldest, in whatever order the file has them.
      const order = facts.ages
        .map((_, index) => index)
        .filter((index) => isTime(facts.ages[index]!))
        .sort((a, b) => (facts.ages[b]!.from_s ?? -Infinity) - (facts.ages[a]!.from_s ?? -Infinity));
      const ramp = ageColours(order.length);
      return facts.ages.map((age, value) => {
        const at = order.indexOf(value);
        return entry(age, value, age.label ?? NOT_FILES, at < 0 ? NO_FILE : ramp[at]!, age.files);
      });
    }
    case "ending":
      return facts.endings.map((ending, value) => {
        const name = ending.name === undefined
          ? (ending.not_files ? NOT_FILES : "all other endings")
          : ending.name === "" ? "no ending" : `.${shownText(ending.name)}`;
        return entry(ending, value, name, OTHER, ending.files);
      });
  }
}

function entry(
  sums: { allocated: bigint; apparent: bigint },
  value: number, label: string, colour: Rgb, count: bigint,
): LegendEntry {
  return { value, label, colour, allocated: sums.allocated, apparent: sums.apparent, count };
}

/** The value of each cell: of its node, or the one with most bytes of what it stands for. */
export function valuesOf(layout: Layout, property: Property, ages: Ages): Int32Array {
  const { tree, options: { measure } } = layout;
  const values = new Int32Array(layout.count).fill(-1);
  const sums = new Map<number, number>();
  for (let index = 0; index < layout.count; index++) {
    const cell = layout.cell[index];
    if (cell === Cell.Leaf) {
      values[index] = propertyOf(tree, layout.node[index]!, property, ages);
    } else if (cell === Cell.Rest) {
      sums.clear();
      let most = -1;
      for (const node of each(layout.rests.get(index)!.children)) {
        const value = propertyOf(tree, node, property, ages);
        const sum = (sums.get(value) ?? 0) + tree.weight(node, measure);
        sums.set(value, sum);
        if (sum > most) {
          most = sum;
          values[index] = value;
        }
      }
    }
  }
  return values;
}
