// SPDX-License-Identifier: MIT OR Apache-2.0

// The tables beside the tree: worth a look, largest files, groups, sizes, errors, space.
// They tell of the whole scan, whatever the view is.

import type { LegendEntry } from "./colouring";
import { bar, button, el, named, swatch, type Child } from "./element";
import { NOT_FILES, usualMeasure, type Age, type Facts, type PathText, type Space, type Worth } from "./facts";
import { shownText } from "./name";
import type { Property } from "./filter";
import { ownerName } from "./grouping";
import { count, counted, day } from "./locale";
import { css } from "./palette";
import { shownPath } from "./path";
import { fraction, share } from "./share";
import { size } from "./size";
import type { Panel } from "./tabs";
import type { Toast } from "./toast";
import type { Measure } from "./tree";
import type { Viewer } from "./viewer";

export function panelsOf(viewer: Viewer, toast: Toast, tree: HTMLElement, choose: (id: string) => void): Panel[] {
  const { facts } = viewer;
  const panels: Panel[] = [{ id: "tree", label: "Tree", content: tree }];
  if (facts.worth.length > 0) {
    panels.push({ id: "worth", label: "Worth a look", badge: count(facts.worth.length), content: worth(viewer, toast, () => choose("errors")) });
  }
  panels.push(
    { id: "largest", label: "Largest", title: "Largest files", content: largest(viewer, toast) },
    { id: "types", label: "Types", content: types(viewer) },
    { id: "owners", label: "Owners", content: groups(viewer, "owner", "Owners", "Entries") },
    { id: "ages", label: "Ages", content: groups(viewer, "age", "Ages of files, by their last modification", "Files") },
    { id: "sizes", label: "Sizes", content: sizes(viewer) },
  );
  const errors = facts.errors_total ?? BigInt(facts.errors.length);
  if (errors > 0n) panels.push({ id: "errors", label: "Errors", badge: count(errors), content: failures(viewer, errors) });
  const { spaces = [] } = facts;
  if (spaces.length > 0) panels.push({ id: "space", label: "Disk", title: "The disk", content: el("div", {}, ...spaces.map(space)) });
  return panels;
}

/** A button that shows a path in the tree and on the map: the name, and below it where it is. */
function link(viewer: Viewer, toast: Toast, text: PathText): HTMLElement {
  const shown = shownPath(text);
  const slash = shown.lastIndexOf("/");
  const [directory, name] = slash <= 0 ? ["", shown] : [shown.slice(0, slash + 1), shown.slice(slash + 1)];
  const where = named(directory);
  where.classList.add("where");
  // In the order of the path, which a voice reads; the style turns it around.
  return button({ class: "link path" }, () => {
    void viewer.reveal(text).then((isExact) => {
      if (!isExact) toast.say("This entry is among the smaller items of the selected directory");
    });
  }, where, named(name));
}

function table(caption: string, heads: [label: string, className?: string][], rows: HTMLElement[]): HTMLElement {
  return el("table", {},
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, ...heads.map(([label, className]) =>
      label === "" ? el("td", { class: className }) : el("th", { scope: "col", class: className }, label)))),
    el("tbody", {}, ...rows));
}

const cell = (className: string | undefined, ...children: Child[]) => el("td", { class: className }, ...children);
const number = (text: string) => cell("number", text);

const DAY_S = 86_400;
const YEAR_S = 365 * DAY_S;
const KINDS = { old: "old", new: "new", rebuildable: "rebuildable", unreadable: "not read" } as const;

function worth(viewer: Viewer, toast: Toast, showErrors: () => void): HTMLElement {
  const { facts } = viewer;
  const item = (worth: Worth, number?: number) => el("li", {},
    el("span", { class: number === undefined ? "mark none" : "mark" }, number === undefined ? "" : String(number)),
    el("div", {},
      el("div", { class: "line" },
        link(viewer, toast, worth.path),
        el("span", { class: "number" }, worth.allocated === undefined ? "" : size(worth.allocated))),
      el("div", { class: "note" }, el("span", { class: `kind ${worth.kind}` }, KINDS[worth.kind] ?? worth.kind), " ", worth.note)));
  const sections = (Object.keys(KINDS) as Worth["kind"][]).flatMap((kind) => {
    const list = el("ol", { class: "worth" }, ...facts.worth.flatMap((worth, index) => (worth.kind === kind ? [item(worth, index + 1)] : [])));
    const head = worthHead(viewer, kind, list, item, showErrors);
    return list.childElementCount === 0 ? [] : [el("section", {}, head, list)];
  });
  const marks = el("label", { class: "check" });
  const box = el("input", { type: "checkbox", checked: true });
  box.addEventListener("change", () => viewer.setOptions({ showsMarks: box.checked }));
  marks.append(box, "Mark them on the map");
  return el("div", {}, ...sections, marks);
}

/** How many of a kind there are, and a button that shows them all. */
function worthHead(
  viewer: Viewer, kind: Worth["kind"], list: HTMLElement, item: (worth: Worth) => HTMLElement, showErrors: () => void,
): HTMLElement {
  const { facts } = viewer;
  let text = "";
  let all: HTMLElement | undefined;
  if (kind === "rebuildable") {
    const { count: number, allocated, largest } = facts.rebuildable ?? { count: 0n, allocated: 0n, largest: [] };
    text = `${counted(number, "directory", "directories")} that a program makes again: ${size(allocated)}`;
    const shown = list.childElementCount;
    if (largest.length > shown) {
      const isAll = BigInt(largest.length) === number;
      all = button({}, () => {
        list.append(...largest.slice(shown).map((worth) => item(worth)));
        all!.remove();
      }, isAll ? `Show all ${count(number)}` : `Show the ${count(largest.length)} largest`);
    }
  } else if (kind === "unreadable") {
    const { errors, changed = 0n } = facts.totals;
    text = changed === 0n ? counted(errors, "path that was not read", "paths that were not read") : "Paths that were not read, or changed meanwhile";
    all = button({}, showErrors, `Show all ${count(errors)}`);
  } else {
    // The program counted all files by age.
    const ages = facts.ages.flatMap((age, value) => (isOfKind(facts, age, kind) ? [{ ...age, value }] : []));
    const files = ages.reduce((sum, age) => sum + age.files, 0n);
    const bytes = ages.reduce((sum, age) => sum + age.allocated, 0n);
    const what = kind === "old" ? "not modified for two years" : "modified within 7 days";
    text = `${counted(files, "file", "files")} ${what}: ${size(bytes)}`;
    all = button({}, () => viewer.chooseOnly("age", ages.map(({ value }) => value)), "Light them all");
  }
  return el("div", { class: "worth-head" }, el("span", {}, text), all);
}

/** Whether the files of an age are old, or new, as the program has it. */
function isOfKind({ ages }: Facts, { from_s, to_s, not_files }: Age, kind: "old" | "new"): boolean {
  // The future begins now.
  const now = Math.max(...ages.map(({ from_s }) => from_s ?? -Infinity));
  if (not_files) return false;
  if (kind === "old") return to_s !== undefined && to_s <= now - 2 * YEAR_S;
  return to_s !== undefined && from_s !== undefined && from_s >= now - 7 * DAY_S - 1;
}

function largest(viewer: Viewer, toast: Toast): HTMLElement {
  const { facts } = viewer;
  const rows = facts.largest.map((file) => {
    const legend = viewer.legends.category.find(({ value }) => value === file.category);
    return el("tr", {},
      cell("wide", el("div", { class: "led" },
        legend === undefined ? undefined : swatch(css(legend.colour)), link(viewer, toast, file.path))),
      number(size(file.allocated)),
      number(size(file.apparent)),
      cell("quiet narrow", day(file.newest_s)),
      cell("quiet narrow", file.owner === undefined ? "" : ownerName(facts, file.owner)));
  });
  return table(`The ${counted(rows.length, "largest file", "largest files")}`,
    [["File", "wide"], ["Disk", "number"], ["Apparent", "number"], ["Modified", "narrow"], ["Owner", "narrow"]], rows);
}

/** Groups as a legend: each one filters, and lights up the map under the pointer. */
function groups(viewer: Viewer, property: Property, caption: string, noun: string): HTMLElement {
  const entries = viewer.legends[property].filter(({ allocated, apparent, count }) => allocated > 0n || apparent > 0n || count > 0n);
  const isOrdered = property === "age";
  const measure = usualMeasure(viewer.facts);
  const sorted = isOrdered ? entries : [...entries].sort((a, b) => byBytes(a, b, measure));
  const whole = viewer.facts.totals[measure];
  const toggles: [HTMLButtonElement, number][] = [];
  const rows = sorted.map((entry) => {
    const isChoosable = property !== "ending" || viewer.facts.endings[entry.value]?.name !== undefined;
    let label: Child = named(entry.label);
    if (isChoosable) {
      const toggle = button({ class: "link", "aria-pressed": "false" }, () => viewer.toggle(property, entry.value), named(entry.label));
      toggles.push([toggle, entry.value]);
      label = toggle;
    }
    const row = el("tr", {},
      cell("wide", el("div", { class: "led" }, property === "ending" ? undefined : swatch(css(entry.colour)), label)),
      cell("bar-cell", bar(fraction(entry[measure], whole), property === "ending" ? undefined : css(entry.colour))),
      number(size(entry.allocated)),
      number(share(entry[measure], whole)),
      cell("number narrow", size(entry.apparent)),
      cell("number quiet", count(entry.count)));
    if (isChoosable) {
      row.addEventListener("pointerenter", () => viewer.light(property, entry.value));
      row.addEventListener("pointerleave", () => viewer.light());
    }
    return row;
  });
  viewer.listen((changes) => {
    if (!changes.has("filter")) return;
    for (const [toggle, value] of toggles) {
      toggle.setAttribute("aria-pressed", String(viewer.filter.chosen[property].has(value)));
    }
  });
  return table(caption,
    [[property === "ending" ? "Ending" : "Group", "wide"], ["", "bar-cell"], ["Disk", "number"], ["Share", "number"],
      ["Apparent", "number narrow"], [noun, "number"]], rows);
}

function byBytes(a: LegendEntry, b: LegendEntry, measure: Measure): number {
  return a[measure] < b[measure] ? 1 : a[measure] > b[measure] ? -1 : 0;
}

function types(viewer: Viewer): HTMLElement {
  return el("div", {},
    el("p", { class: "hint" }, "Choose groups to fade all others on the map and in the tree."),
    groups(viewer, "category", "Categories, by the names of files", "Files"),
    groups(viewer, "ending", "Endings of names", "Files"));
}

function sizes(viewer: Viewer): HTMLElement {
  const { facts } = viewer;
  const classes = facts.sizes.filter((entry) => !entry.not_files);
  const most = classes.reduce((most, { files }) => (files > most ? files : most), 0n);
  const measure = usualMeasure(facts);
  const whole = facts.totals[measure];
  const rows = facts.sizes.map((entry) => el("tr", {},
    cell("wide", entry.label ?? NOT_FILES),
    cell("bar-cell", entry.not_files ? undefined : bar(fraction(entry.files, most))),
    number(count(entry.files)),
    number(size(entry[measure])),
    number(share(entry[measure], whole))));
  const lines = facts.percentiles.map(({ of, bytes }) => el("tr", {},
    cell("wide", of === 50 ? "Half of the files" : of === 100 ? "The largest file" : `${of} % of the files`),
    number(of === 100 ? size(bytes) : `≤ ${size(bytes)}`)));
  return el("div", {},
    table("Sizes of files", [["Size", "wide"], ["", "bar-cell"], ["Files", "number"], [measure === "allocated" ? "Disk" : "Apparent", "number"],
      ["Share", "number"]], rows),
    table("Percentiles", [["", "wide"], ["Size", "number"]], lines));
}

function failures(viewer: Viewer, total: bigint): HTMLElement {
  const { errors } = viewer.facts;
  const rows = errors.map((error) => el("tr", {},
    cell("wide path", named(shownPath(error.path))),
    cell(undefined, error.operation),
    cell(undefined, error.cause)));
  const { changed = 0n } = viewer.facts.totals;
  const unread = total - changed;
  const parts: string[] = [];
  if (unread > 0n) parts.push(counted(unread, "path that statwalk could not read", "paths that statwalk could not read"));
  if (changed > 0n) parts.push(counted(changed, "directory that changed while statwalk read it", "directories that changed while statwalk read them"));
  const listed = total > BigInt(errors.length) ? `; the first ${count(errors.length)}` : "";
  return table(parts.join(", ") + listed, [["Path", "wide"], ["Operation"], ["Cause"]], rows);
}

function space({ point, total, is_exact: isExact, parts }: Space): HTMLElement {
  const place = point.text === "" ? "File system of the roots" : `File system of ${shownPath(point)}`;
  const rows = parts.map((row) => el("tr", {},
    cell(`wide level-${row.level}`, shownText(row.label), row.note === undefined ? undefined : el("div", { class: "note" }, shownText(row.note))),
    cell("bar-cell", bar(fraction(row.bytes, total))),
    number(size(row.bytes)),
    number(row.bytes < 0n ? "" : share(row.bytes, total))));
  const said = isExact ? "The scan covers all of it: the parts add up to the used bytes."
    : "The scan covers a part of it. statwalk df scans all, and explains the rest.";
  return el("div", {},
    table(`${place}: ${size(total)} = 100 %`, [["Part", "wide"], ["", "bar-cell"], ["Bytes", "number"], ["Share", "number"]], rows),
    el("p", { class: "hint" }, said));
}

export function rootsText(roots: PathText[]): string {
  return roots.map(shownPath).join(", ");
}
