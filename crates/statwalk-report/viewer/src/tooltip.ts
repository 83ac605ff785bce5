// SPDX-License-Identifier: MIT OR Apache-2.0

// The facts about what is under the pointer. The same stand below the map for what is
// selected, so that nothing is known to a mouse alone.

import { details, label, remarks, smallerItems } from "./describe";
import { el, named } from "./element";
import { count } from "./locale";
import { wayTo } from "./path";
import { share } from "./share";
import { size } from "./size";
import { bytesOf } from "./tree";
import type { Selection, Viewer } from "./viewer";

/** How many directories above a cell its tooltip names. */
const WAY_MAX = 6;

export class Tooltip {
  readonly element = el("div", { class: "tooltip", hidden: true, "aria-hidden": "true" });
  private last: Selection | undefined;

  constructor(private readonly viewer: Viewer) {}

  show(x: number, y: number, selection: Selection | undefined, bytes: bigint, entries: bigint): void {
    const { element } = this;
    const isSame = this.last !== undefined && selection !== undefined && !element.hidden
      && this.last.node === selection.node && this.last.isRest === selection.isRest;
    if (!isSame) {
      this.last = selection;
      element.replaceChildren(...this.content(selection, bytes, entries));
      element.hidden = false;
    }
    const { offsetWidth, offsetHeight } = element;
    const left = x + 16 + offsetWidth > innerWidth ? x - 12 - offsetWidth : x + 16;
    const top = y + 18 + offsetHeight > innerHeight ? y - 12 - offsetHeight : y + 18;
    element.style.left = `${Math.max(4, left)}px`;
    element.style.top = `${Math.max(4, top)}px`;
  }

  hide(): void {
    this.element.hidden = true;
    this.last = undefined;
  }

  private content(selection: Selection | undefined, bytes: bigint, entries: bigint): HTMLElement[] {
    const { shown, facts, view, measure } = this.viewer;
    if (selection === undefined) {
      return [el("strong", {}, "free space"), list([["free", `${size(bytes)} (${count(bytes)} B)`]])];
    }
    if (selection.isRest) {
      return [
        el("strong", {}, smallerItems(entries)),
        el("div", { class: "of" }, "of ", named(label(shown, selection.node))),
        list([
          [measure === "allocated" ? "disk" : "apparent", `${size(bytes)} (${count(bytes)} B)`],
          ["share", `${share(bytes, bytesOf(shown, view, measure))} of ${this.viewer.wholeName()}`],
        ]),
      ];
    }
    return [
      el("strong", {}, named(label(shown, selection.node))),
      ...this.way(selection.node),
      list(details(shown, selection.node, facts, view, this.viewer.wholeName(), measure, this.viewer.ages)),
      ...remarks(shown, selection.node).map((remark) => el("div", { class: "remark" }, remark)),
    ];
  }

  /** The directories between the view and a node; none for its children. */
  private way(node: number): HTMLElement[] {
    const { shown, view } = this.viewer;
    const way = wayTo(shown, node);
    const between = way.slice(way.indexOf(view) + 1, -1);
    if (between.length === 0) return [];
    // The nearest ones tell the most: the others are in the line above the map.
    const cut = between.length > WAY_MAX ? between.slice(-WAY_MAX) : between;
    const names = cut.flatMap((at, index) => [index === 0 ? "" : " › ", named(label(shown, at))]);
    return [el("div", { class: "of way" }, cut === between ? "" : "… › ", ...names)];
  }
}

export function list(pairs: [string, string][]): HTMLElement {
  return el("dl", {}, ...pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}
