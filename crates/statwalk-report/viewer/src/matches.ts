// SPDX-License-Identifier: MIT OR Apache-2.0

// The matches of a search as a list, the largest first. Keys walk through it from the search
// field, and the tree and the map go along.

import { label } from "./describe";
import { el, named } from "./element";
import { count, counted } from "./locale";
import { wayTo } from "./path";
import { size } from "./size";
import { bytesOf } from "./tree";
import type { Viewer } from "./viewer";

/** How many matches have a row. */
const LISTED = 200;

export class Matches {
  readonly element: HTMLElement;
  private readonly head = el("p", { class: "matches-head", id: "matches-head" });
  private readonly list = el("div", { class: "matches-list", role: "listbox", tabindex: 0, id: "matches", "aria-labelledby": "matches-head" });
  private nodes: number[] = [];
  private at = -1;
  private drawing = 0;

  constructor(
    private readonly viewer: Viewer,
    private readonly search: HTMLInputElement,
  ) {
    this.element = el("div", { class: "matches", hidden: true }, this.head, this.list);
    viewer.listen((changes) => {
      if (!changes.has("filter") && !changes.has("measure")) return;
      // The map shows the matches first.
      clearTimeout(this.drawing);
      this.drawing = window.setTimeout(() => this.fill());
    });
    search.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" || this.element.hidden) return;
      this.list.focus();
      this.choose(Math.max(0, this.at));
      event.preventDefault();
    });
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("click", (event) => {
      const option = (event.target as Element).closest<HTMLElement>("[role=option]");
      if (option !== null) this.choose([...this.list.children].indexOf(option));
    });
    this.list.addEventListener("dblclick", () => this.enter());
  }

  private fill(): void {
    const { viewer, list } = this;
    const { search, chosen, tree, measure } = viewer;
    this.element.hidden = search === undefined || search.matches === 0 || chosen !== undefined;
    if (this.element.hidden || search === undefined) {
      list.replaceChildren();
      return;
    }
    this.nodes = largest(search.nodes, (node) => tree.weight(node, measure));
    this.at = -1;
    const more = search.matches - this.nodes.length;
    this.head.textContent = more === 0 ? `${counted(search.matches, "match", "matches")}, the largest first`
      : `The ${count(this.nodes.length)} largest of ${count(search.matches)} matches`;
    list.replaceChildren(...this.nodes.map((node, index) => this.option(node, index)));
    list.removeAttribute("aria-activedescendant");
    list.scrollTop = 0;
  }

  private option(node: number, index: number): HTMLElement {
    const { tree, measure } = this.viewer;
    const above = wayTo(tree, node).slice(1, -1).map((at) => label(tree, at)).join("/");
    const where = named(above);
    where.classList.add("where");
    return el("div", { role: "option", id: `match-${index}`, "aria-selected": "false" },
      named(label(tree, node)), where, el("span", { class: "number" }, size(bytesOf(tree, node, measure))));
  }

  private choose(index: number): void {
    const at = Math.max(0, Math.min(this.nodes.length - 1, index));
    const options = this.list.children;
    options[this.at]?.setAttribute("aria-selected", "false");
    const option = options[at];
    if (option === undefined) return;
    this.at = at;
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.list.setAttribute("aria-activedescendant", option.id);
    this.viewer.point(this.nodes[at]!);
  }

  private enter(): void {
    const node = this.nodes[this.at];
    if (node !== undefined) this.viewer.openAt(node);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { at, list } = this;
    const rows = Math.max(1, Math.floor(list.clientHeight / Math.max(1, list.firstElementChild?.clientHeight ?? 1)) - 1);
    switch (event.key) {
      case "ArrowDown": this.choose(at + 1); break;
      case "ArrowUp":
        if (at > 0) this.choose(at - 1);
        else this.search.focus();
        break;
      case "PageDown": this.choose(at + rows); break;
      case "PageUp": this.choose(at - rows); break;
      case "Home": this.choose(0); break;
      case "End": this.choose(this.nodes.length - 1); break;
      case "Enter": this.enter(); break;
      case "Escape": this.search.focus(); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/** The largest nodes in order, without sorting all. */
function largest(nodes: number[], weightOf: (node: number) => number): number[] {
  let kept: { node: number; weight: number }[] = [];
  let least = -1;
  const cut = () => {
    kept.sort((a, b) => b.weight - a.weight || a.node - b.node);
    kept.length = Math.min(kept.length, LISTED);
    if (kept.length === LISTED) least = kept[LISTED - 1]!.weight;
  };
  for (const node of nodes) {
    const weight = weightOf(node);
    if (weight <= least) continue;
    kept.push({ node, weight });
    if (kept.length >= LISTED * 2) cut();
  }
  cut();
  return kept.map(({ node }) => node);
}
