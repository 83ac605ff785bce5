// SPDX-License-Identifier: MIT OR Apache-2.0

// What stands around the tree and the map: the header, the way to the view, the tools, the
// legend, the line about the selection, the help.

import { wordsOf } from "./command";
import { COLOURS, type Colour } from "./colouring";
import { contents, details, label, remarks } from "./describe";
import { button, el, icon, named, swatch } from "./element";
import { GROUPINGS, type Grouping } from "./grouping";
import { count, counted, moment } from "./locale";
import type { Menu } from "./menu";
import { shownText } from "./name";
import { PROPERTIES } from "./filter";
import { css } from "./palette";
import { rootsText } from "./panels";
import { pathBytes, shownPath, wayTo } from "./path";
import { share } from "./share";
import { size } from "./size";
import { lacksBlocks } from "./facts";
import { entriesIn, sumsOf } from "./sums";
import { isContainer, type Measure } from "./tree";
import { filterText, type Viewer } from "./viewer";

const LOGO = "M1 1h8v9H1zM10 1h5v5h-5zM10 7h5v3h-5zM1 11h5v4H1zM7 11h8v4H7z";
const CHECK = "M3.5 8.5l3 3 6-7";
const WARN = "M8 2.5l6 11H2zM8 6.5v3.5M8 11.8v.4";

export function header(viewer: Viewer): HTMLElement {
  const { facts } = viewer;
  const seconds = Number(facts.time_ns / 1_000_000_000n);
  const { totals, complete } = facts;
  const status = el("div", { class: complete.is ? "status complete" : "status bound" },
    icon(complete.is ? CHECK : WARN),
    el("span", {}, complete.is ? "complete" : "lower bound"));
  const figure = (value: string, name: string, title?: string) =>
    el("div", { class: "figure", title }, el("dd", {}, value), el("dt", {}, name));
  const bound = complete.is ? "" : "≥ ";
  const figures = el("dl", { class: "figures" },
    figure(`${bound}${size(totals.allocated)}`, "on disk", `${count(totals.allocated)} bytes`),
    figure(`${bound}${size(totals.apparent)}`, "apparent", `${count(totals.apparent)} bytes`),
    figure(count(totals.entries), "entries",
      `${counted(totals.files, "file", "files")}, ${counted(totals.directories, "directory", "directories")}, ` +
      `${counted(totals.links, "link", "links")}, ${count(totals.other)} other`));
  const { changed = 0n } = totals;
  if (totals.errors > changed) figures.append(figure(count(totals.errors - changed), "not read"));
  if (changed > 0n) figures.append(figure(count(changed), "changed", "directories that changed while statwalk read them"));
  const notes: HTMLElement[] = [];
  if (!complete.is && complete.why) notes.push(el("p", { class: "why" }, shownText(complete.why)));
  if (lacksBlocks(facts)) {
    notes.push(el("p", { class: "why" },
      "No file here has blocks on disk; perhaps this file system counts none. Shares, bars and order are those of apparent sizes."));
  }
  if (facts.is_redacted) {
    notes.push(el("p", { class: "why" }, "Names are replaced: host, owners and paths are numbers. Endings, sizes and times are true."));
  }
  return el("header", { class: "top" },
    icon(LOGO, "logo"),
    el("div", { class: "title" },
      el("h1", {}, named(rootsText(facts.roots))),
      el("p", { class: "sub" },
        named(shownPath(facts.host)), " · ",
        el("time", { datetime: isoOf(seconds) }, moment(seconds)), " · ",
        el("code", { dir: "ltr" }, shownText(wordsOf(facts.options.map(pathBytes))))),
      ...(facts.gist ? [el("p", { class: "gist" }, shownText(facts.gist))] : []),
      ...notes),
    el("div", { class: "sums" }, status, figures));
}

function isoOf(seconds: number): string | undefined {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** The way from the root to the view: each step is a button. */
export function crumbs(viewer: Viewer): HTMLElement {
  const list = el("ol");
  const up = button({ class: "up", title: "The directory above (Backspace)", "aria-label": "The directory above" },
    () => viewer.out(), icon("M8 13V3.5M4 7.5l4-4 4 4"));
  const nav = el("nav", { class: "crumbs", "aria-label": "Way to the view" }, up, list);
  const names: Record<Exclude<Grouping, "tree">, string> = { category: "by category", owner: "by owner", age: "by age" };
  const update = () => {
    const { shown, view, tree, base, kept, grouping } = viewer;
    up.disabled = !viewer.canGoOut();
    const steps: [text: string, go: (() => void) | undefined, isChip?: boolean][] = [];
    const isScan = shown === tree;
    for (const node of wayTo(tree, base)) {
      steps.push([label(tree, node), isScan ? () => viewer.zoom(node) : undefined]);
    }
    if (!isScan) {
      if (kept !== undefined) steps.push([`only ${filterText(kept, viewer.legends)}`, () => viewer.zoom(shown.root), true]);
      if (grouping !== "tree") steps.push([names[grouping], () => viewer.zoom(shown.root), true]);
      for (const node of wayTo(shown, view).slice(1)) steps.push([label(shown, node), () => viewer.zoom(node)]);
    }
    list.replaceChildren(...steps.map(([text, go, isChip], index) => {
      const isLast = index === steps.length - 1;
      const item = el("li", { class: isChip ? "chip" : undefined });
      if (isLast || go === undefined) item.append(el("span", { "aria-current": isLast ? "location" : undefined }, named(text)));
      else item.append(button({ class: "link" }, go, named(text)));
      return item;
    }));
    // The page is laid out then in any case.
    requestAnimationFrame(() => { list.scrollLeft = list.scrollWidth; });
  };
  viewer.listen((changes) => changes.has("view") && update());
  update();
  return nav;
}

const GROUPING_NAMES: Record<Grouping, string> = { tree: "Tree", category: "Category", owner: "Owner", age: "Age" };
const COLOUR_NAMES: Record<Colour, string> = { category: "category", age: "age", owner: "owner" };

export class Tools {
  readonly element: HTMLElement;
  readonly search = el("input", {
    type: "search", id: "search", placeholder: "Search names", "aria-label": "Search names", autocomplete: "off", spellcheck: "false",
    "aria-describedby": "found",
  });
  private timer = 0;

  constructor(
    private readonly viewer: Viewer,
    help: HTMLDialogElement,
  ) {
    const { search } = this;
    search.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => viewer.find(search.value), 60);
    });
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        clearTimeout(this.timer);
        viewer.find(search.value);
        viewer.keep();
        document.getElementById("tree")?.focus();
      } else if (event.key === "Escape") {
        clearTimeout(this.timer);
        viewer.find("");
        search.value = "";
        document.getElementById("tree")?.focus();
      } else {
        return;
      }
      event.preventDefault();
    });
    const helps = button({ class: "help", title: "Keys (?)", "aria-label": "Keys" }, () => help.showModal(), "?");
    this.element = el("div", { class: "tools" }, this.groupings(), this.colours(), this.measures(), search, helps);
    viewer.listen((changes) => {
      if (changes.has("filter") && viewer.filter.text === "" && document.activeElement !== search) search.value = "";
    });
  }

  private groupings(): HTMLElement {
    const { viewer } = this;
    const buttons = GROUPINGS.map((grouping, index) =>
      button({ title: `Group by ${grouping} (${index + 1})`, "aria-pressed": "false" }, () => viewer.regroup(grouping), GROUPING_NAMES[grouping]));
    const update = () => buttons.forEach((made, index) =>
      made.setAttribute("aria-pressed", String(GROUPINGS[index] === viewer.grouping)));
    viewer.listen((changes) => changes.has("view") && update());
    update();
    return el("div", { class: "segments", role: "group", "aria-label": "Group by" }, ...buttons);
  }

  private colours(): HTMLElement {
    const { viewer } = this;
    const select = el("select", { title: "Colour (c)" }, ...COLOURS.map((colour) => el("option", { value: colour }, COLOUR_NAMES[colour])));
    select.addEventListener("change", () => viewer.setColour(select.value as Colour));
    const update = () => { select.value = viewer.colour; };
    viewer.listen((changes) => changes.has("colour") && update());
    update();
    return el("label", {}, "Colour", select);
  }

  private measures(): HTMLElement {
    const { viewer } = this;
    const select = el("select", {}, el("option", { value: "allocated" }, "on disk"), el("option", { value: "apparent" }, "apparent"));
    select.addEventListener("change", () => viewer.setMeasure(select.value as Measure));
    const update = () => { select.value = viewer.measure; };
    viewer.listen((changes) => changes.has("measure") && update());
    update();
    return el("label", {}, "Size", select);
  }
}

/** How much is lit: `195 matches (34 of them inside of others), 1.20 GiB`. */
function foundText(viewer: Viewer): string {
  const { filter, search, chosen, legends, kept } = viewer;
  if (chosen === undefined) {
    const { matches, nested, allocated } = search!;
    const inside = nested === 0 ? "" : ` (${count(nested)} of them inside of others)`;
    return `${counted(matches, "match", "matches")}${inside}, ${size(allocated)}.${lacks(viewer, "names")}`;
  }
  const [property, ...more] = PROPERTIES.filter((property) => filter.chosen[property].size > 0);
  // The program counted the groups of the whole scan.
  if (property !== undefined && more.length === 0 && search === undefined && kept === undefined && viewer.base === viewer.tree.root) {
    const entries = legends[property].filter(({ value }) => filter.chosen[property].has(value));
    const sum = (key: "allocated" | "count") => entries.reduce((sum, entry) => sum + entry[key], 0n);
    return `${countedBy(viewer, sum("count"))}, ${size(sum("allocated"))}`;
  }
  return `${countedBy(viewer, chosen.entries)}, ${size(chosen.allocated)}.${lacks(viewer, "sum")}`;
}

function countedBy(viewer: Viewer, number: bigint): string {
  return viewer.choosesFiles() ? counted(number, "file", "files") : counted(number, "entry", "entries");
}

/** A sentence where the file does not have every name of the scan. */
function lacks({ tree }: Viewer, what: "names" | "sum"): string {
  if (!tree.isRead()) return " Parts of the file that are not open yet are not searched.";
  if (!tree.hasSums()) return "";
  return what === "names" ? " The names of “smaller items” are not in this file."
    : " What is inside of “smaller items” is not in this file, and not in this sum.";
}

/** What the filter fades, and the ways to keep or drop it. */
export function filterLine(viewer: Viewer): HTMLElement {
  const text = el("span", { class: "what", role: "status", id: "found" });
  const keep = button({ class: "primary", title: "Enter in the search" }, () => viewer.keep(), "Keep only these");
  const clear = button({}, () => (viewer.filter.isEmpty() ? viewer.unkeep() : viewer.clearFilter()), "Clear");
  const line = el("div", { class: "filter", hidden: true }, text, keep, clear);
  const update = () => {
    const { filter, kept } = viewer;
    line.hidden = filter.isEmpty() && kept === undefined;
    keep.hidden = filter.isEmpty();
    clear.textContent = filter.isEmpty() ? "Show all" : "Clear";
    if (!filter.isEmpty()) {
      text.textContent = `Lit: ${filterText(filter, viewer.legends)}: ${foundText(viewer)}`;
    } else if (kept !== undefined) {
      const { shown, tree } = viewer;
      const bytes = shown.allocated(shown.root);
      text.textContent = `Only ${filterText(kept, viewer.legends)}: ${size(bytes)}, ` +
        `${share(bytes, tree.allocated(tree.root))} of the scan.${lacks(viewer, "sum")}`;
    } else {
      text.textContent = "";
    }
  };
  viewer.listen((changes) => (changes.has("filter") || changes.has("view")) && update());
  update();
  return line;
}

/** The colours of the map. Each one filters, and lights up the map under the pointer. */
export function legend(viewer: Viewer): HTMLElement {
  const list = el("div", { class: "legend", role: "group", "aria-label": "Colours of the map" });
  let chips: HTMLButtonElement[] = [];
  let drawing = 0;
  let [width, height] = [0, 0];
  /** With fewer groups the map keeps its size, so that its cells stay where they are. */
  const keepHeight = () => {
    if (list.offsetWidth !== width) {
      width = list.offsetWidth;
      height = 0;
      list.style.minHeight = "";
    }
    if (list.offsetHeight <= height) return;
    height = list.offsetHeight;
    list.style.minHeight = `${height}px`;
  };
  const update = () => {
    clearTimeout(drawing);
    const { colour: property, shown, view, measure, ages } = viewer;
    let entries = viewer.legends[property];
    let several = 0n;
    const isLit = viewer.litWithout(property);
    const isWhole = viewer.base === viewer.tree.root && view === shown.root && viewer.kept === undefined;
    if (!isWhole || isLit !== undefined) {
      const sums = sumsOf(shown, view, property, ages, isLit);
      entries = entriesIn(entries, sums);
      several = sums.several[measure];
    }
    const chosen = viewer.filter.chosen[property];
    // What is chosen stays, so that it can be dropped.
    for (const entry of viewer.legends[property]) {
      if (chosen.has(entry.value) && !entries.some(({ value }) => value === entry.value)) entries.push({ ...entry, allocated: 0n, apparent: 0n, count: 0n });
    }
    entries = entries.filter(({ value, allocated, apparent }) => allocated > 0n || apparent > 0n || chosen.has(value));
    const sorted = property === "age" ? entries : [...entries].sort((a, b) => (a[measure] < b[measure] ? 1 : -1));
    const focused = (document.activeElement as HTMLElement | null)?.closest<HTMLElement>(".legend .entry")?.dataset.value;
    chips = sorted.map((entry) => {
      const chip = button({ class: "entry", "aria-pressed": String(chosen.has(entry.value)), "data-value": entry.value },
        () => viewer.toggle(property, entry.value),
        swatch(css(entry.colour)), named(entry.label), el("span", { class: "bytes" }, size(entry[measure])));
      chip.addEventListener("pointerenter", () => viewer.light(property, entry.value));
      chip.addEventListener("pointerleave", () => viewer.light());
      return chip;
    });
    const hatched = el("span", { class: "more" }, swatch("var(--map-hatch)", true), "several items");
    if (several > 0n) hatched.append(el("span", { class: "bytes" }, size(several)));
    list.replaceChildren(...chips, hatched);
    if (viewer.facts.free_bytes !== undefined) {
      const box = el("input", { type: "checkbox" });
      box.checked = viewer.showsFree;
      box.addEventListener("change", () => viewer.setOptions({ showsFree: box.checked }));
      list.append(el("label", { class: "check" }, box, `free space ${size(viewer.facts.free_bytes)}`));
    }
    if (focused !== undefined) chips.find((chip) => chip.dataset.value === focused)?.focus();
    keepHeight();
  };
  viewer.listen((changes) => {
    if (changes.has("colour")) update();
    else if (changes.has("view") || changes.has("measure") || changes.has("filter")) {
      // The sums of a view are counted when the map is on the screen.
      clearTimeout(drawing);
      drawing = window.setTimeout(update);
    }
  });
  update();
  new ResizeObserver(keepHeight).observe(list);
  return list;
}

/** The facts about the selection. */
export function selectionLine(viewer: Viewer, menu: Menu): HTMLElement {
  // Long names scroll in it, so the keyboard must reach it.
  const text = el("div", { class: "facts", role: "group", "aria-label": "Selection", tabindex: 0 });
  const open = button({ class: "primary" }, () => viewer.zoom(viewer.selection.node), "Open");
  const more = button({ title: "Copy path and commands", "aria-haspopup": "menu" }, () => {
    const { left, top } = more.getBoundingClientRect();
    menu.open(left, top - 180, viewer.selection.node, more);
  }, "Copy…");
  const line = el("div", { class: "selection" }, text, open, more);
  const update = () => {
    const { shown, selection, facts, view, measure } = viewer;
    const { node, isRest } = selection;
    const canOpen = isContainer(shown, node) && node !== view;
    open.hidden = !canOpen;
    more.hidden = viewer.pathOf(node) === undefined || facts.is_redacted;
    const name = el("strong", {}, isRest ? "smaller items of " : "", named(label(shown, node)));
    const pairs = isRest ? [] : details(shown, node, facts, view, viewer.wholeName(), measure, viewer.ages);
    const spans = pairs.map(([key, value]) => el("span", { class: "pair" }, el("span", { class: "key" }, `${key} `), value));
    const below = isContainer(shown, node) ? [el("span", { class: "pair" }, contents(shown, node))] : [];
    const said = remarks(shown, node).map((remark) => el("span", { class: "remark" }, remark));
    text.replaceChildren(name, ...spans, ...below, ...said);
  };
  viewer.listen((changes) => (changes.has("selection") || changes.has("view") || changes.has("measure")) && update());
  update();
  return line;
}

const KEYS: [keys: string, meaning: string][] = [
  ["↑ ↓ ← →", "in the tree: rows, expand, collapse; in the map: the next cell in that direction"],
  ["Enter", "show the selected directory"],
  ["Backspace", "show the directory above"],
  ["n, p", "in the map: the next and the previous cell by size"],
  ["Page Up, Page Down", "in the map: the directory around, and its largest cell"],
  ["Tab", "leave the tree or the map"],
  ["c", "next colour: category, age, owner"],
  ["1, 2, 3, 4", "group by tree, category, owner, age"],
  ["/", "search: fades what does not match; ↓ walks through the matches, Enter keeps them alone"],
  ["m", "menu of the selected entry: copy path and commands"],
  ["Escape", "show all again"],
  ["Alt ←", "the browser's Back undoes a zoom"],
];

export function helpDialog(viewer: Viewer): HTMLDialogElement {
  const { detail, program } = viewer.facts;
  const dialog = el("dialog", { class: "help-dialog", "aria-labelledby": "help-title" });
  const close = button({ class: "primary" }, () => dialog.close(), "Close");
  dialog.append(
    el("h2", { id: "help-title" }, "Keys"),
    el("dl", { class: "keys" }, ...KEYS.flatMap(([keys, meaning]) => [
      el("dt", {}, ...keys.split(", ").flatMap((key, index) => [index > 0 ? " " : "", el("kbd", {}, key)])),
      el("dd", {}, meaning)])),
    el("p", {}, `${program} wrote this file. ` +
      (viewer.tree.hasSums()
        ? `It has the largest of ${counted(detail.of_entries, "entry", "entries")}; smaller items are summed, and every sum is exact. `
        : `It has all ${counted(detail.of_entries, "entry", "entries")}. `) +
      "A hatched cell stands for several items. Nothing on this page changes or deletes a file, and nothing leaves it."),
    close);
  return dialog;
}

export function footer(viewer: Viewer): HTMLElement {
  const { detail, program } = viewer.facts;
  const whole = !viewer.tree.hasSums();
  return el("footer", {},
    shownText(program), " · ",
    whole ? `all ${counted(detail.of_entries, "entry", "entries")} are in this file`
      : `${counted(detail.of_entries, "entry", "entries")}, the largest of them in ${count(detail.nodes)} nodes; the rest is summed exactly`,
    " · nothing on this page changes or deletes a file");
}
