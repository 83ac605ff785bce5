// SPDX-License-Identifier: MIT OR Apache-2.0

// The tree table. Only the rows in sight are elements, so that a directory of a million
// entries scrolls like one of ten.

import { label, sizeOf, spoken } from "./describe";
import { bar, button, el, icon, named, swatch } from "./element";
import { ownerName } from "./grouping";
import { count, day } from "./locale";
import type { Menu } from "./menu";
import { css, OTHER } from "./palette";
import { propertyOf } from "./filter";
import { wayTo } from "./path";
import { Rows, type SortKey } from "./rows";
import { fraction, share } from "./share";
import { bytesOf, Flag, isContainer, isMixed, Kind, NO_NODE } from "./tree";
import type { Change, Viewer } from "./viewer";

const COLUMNS: { key: SortKey; label: string; title: string; class: string }[] = [
  { key: "name", label: "Name", title: "Sort by name", class: "c-name" },
  { key: "disk", label: "Disk", title: "Sort by the space on the disk", class: "c-disk" },
  { key: "apparent", label: "Apparent", title: "Sort by apparent size", class: "c-apparent" },
  { key: "entries", label: "Entries", title: "Sort by the number of entries", class: "c-entries" },
  { key: "newest", label: "Newest", title: "Sort by the newest modification", class: "c-newest" },
  { key: "owner", label: "Owner", title: "Sort by owner", class: "c-owner" },
];
/** Browsers lose pixels beyond this height. */
const HEIGHT_MAX = 8_000_000;
/** How many rows are printed; a line tells of the others. */
const PRINTED = 80;
/** How many rows are opened down to what a search found. */
const KEPT_ROWS = 400;
/** The changes that rows show. */
const SHOWN: Change[] = ["view", "measure", "selection", "colour", "filter", "lit"];
/** Up to this width names have two lines; style.css has the same number. */
const NARROW_REM = 28;
const TWIST = "M6 4l4 4-4 4";

export class Table {
  readonly element = el("div", { class: "tree-table" });
  /** What has the focus: the grid names the row with the cursor. */
  readonly grid = el("div", {
    class: "grid", role: "treegrid", tabindex: 0, "aria-label": "Entries", id: "tree",
  });
  private readonly head = el("div", { role: "row", class: "row head", "aria-rowindex": 1 });
  private readonly body = el("div", { role: "rowgroup", class: "body" });
  private readonly rows: Rows;
  private rowHeight = 28;
  /** The height for rows below the head, in pixels. */
  private room = 0;
  /** How far the rows are scrolled, and how far the page was when it last said so. */
  private top = 0;
  private topOfPage = 0;
  private first = -1;
  private last = -1;
  private isPrinting = false;
  /** Whether the selection is to be brought into sight when there is a height. */
  private isSoughtLater = false;
  /** The views whose largest branches were opened. */
  private readonly opened = new Set<number>();
  private shownTree;

  constructor(
    private readonly viewer: Viewer,
    menu: Menu,
  ) {
    this.rows = new Rows(viewer.facts);
    this.shownTree = viewer.shown;
    for (const column of COLUMNS) {
      const sort = button({ class: "sort", title: column.title }, () => this.sortBy(column.key), column.label);
      this.head.append(el("div", { role: "columnheader", class: column.class, "data-key": column.key }, sort));
      if (column.key === "disk") {
        this.head.append(el("div", { role: "columnheader", class: "c-share" }, "Share"));
      }
    }
    this.grid.append(el("div", { role: "rowgroup", class: "head-group" }, this.head), this.body);
    this.element.append(this.grid);
    this.grid.addEventListener("scroll", () => {
      this.top = this.topOfPage = this.grid.scrollTop;
      this.render();
    });
    // The head is as high as the text is large.
    const sizes = new ResizeObserver(() => this.measure());
    sizes.observe(this.grid);
    sizes.observe(this.head);
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("dblclick", (event) => {
      const index = this.indexAt(event);
      const node = this.rows.at(index)?.node;
      if (node !== undefined && isContainer(viewer.shown, node)) viewer.zoom(node);
    });
    this.body.addEventListener("pointermove", (event) => {
      const node = this.rows.at(this.indexAt(event))?.node;
      viewer.hover(node === undefined ? undefined : { node, isRest: false });
    });
    this.body.addEventListener("pointerleave", () => viewer.hover(undefined));
    this.grid.addEventListener("contextmenu", (event) => {
      const index = this.indexAt(event);
      const isByKey = index < 0;
      event.preventDefault();
      if (!isByKey) viewer.select(this.rows.at(index)!.node);
      const { x, y } = isByKey ? this.placeOfSelection() : { x: event.clientX, y: event.clientY };
      menu.open(x, y, viewer.selection.node, this.grid);
    });
    window.addEventListener("beforeprint", () => this.print(true));
    window.addEventListener("afterprint", () => this.print(false));
    viewer.listen((changes) => this.update(changes));
  }

  private update(changes: Set<Change>): void {
    const { viewer, rows } = this;
    if (changes.has("view") || changes.has("measure")) {
      if (this.shownTree !== viewer.shown) {
        rows.expanded.clear();
        this.opened.clear();
      }
      this.shownTree = viewer.shown;
      this.openLargest();
      if (changes.has("measure")) {
        const key = viewer.measure === "allocated" ? "disk" : "apparent";
        if (rows.sort.key === "disk" || rows.sort.key === "apparent") rows.sort = { key, isDescending: true };
      }
      this.fill();
    }
    if (changes.has("selection")) this.reveal();
    if (SHOWN.some((change) => changes.has(change))) this.render(true);
  }

  /** Opens the largest branches of a view once: what the reader closes stays closed. */
  private openLargest(): void {
    const { viewer, rows, opened } = this;
    const { shown, view } = viewer;
    if (this.room <= 0 || opened.has(view) || shown.isClosed(view)) return;
    opened.add(view);
    if (viewer.kept !== undefined && viewer.grouping === "tree") {
      rows.openDownTo((node) => viewer.isFound(node), shown, view, KEPT_ROWS);
    } else {
      rows.openLargest(shown, view, this.seen);
    }
  }

  /** Asks the page for its sizes: here alone, because it lays out everything to answer. */
  private measure(): void {
    const { grid } = this;
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.rowHeight = Math.round(rem * (grid.clientWidth <= NARROW_REM * rem ? 3 : 1.75));
    this.room = grid.clientHeight - this.body.offsetTop;
    this.top = this.topOfPage = grid.scrollTop;
    const { size } = this.opened;
    this.openLargest();
    if (this.opened.size > size) this.fill();
    if (this.isSoughtLater) this.reveal();
    this.render(true);
  }

  private refill(): void {
    this.fill();
    this.render(true);
  }

  private fill(): void {
    const { viewer, rows } = this;
    rows.fill(viewer.shown, viewer.view);
    for (const cell of this.head.children) {
      const key = (cell as HTMLElement).dataset.key;
      if (key === undefined) continue;
      const isSorted = key === rows.sort.key;
      if (isSorted) cell.setAttribute("aria-sort", rows.sort.isDescending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    this.grid.setAttribute("aria-rowcount", String(rows.rows.length + 1));
    // No number below the view has more letters, and none is cut.
    const { shown, view } = viewer;
    const isBound = (shown.flags(view) & Flag.Incomplete) !== 0;
    this.grid.style.setProperty("--size", isBound ? "10" : "8");
    this.grid.style.setProperty("--entries", String(Math.max("Entries".length, count(shown.entries(view)).length)));
  }

  private sortBy(key: SortKey): void {
    const { sort } = this.rows;
    const isNumber = key !== "name" && key !== "owner";
    this.rows.sort = sort.key === key
      ? { key, isDescending: !sort.isDescending }
      : { key, isDescending: isNumber };
    this.fill();
    this.reveal();
    this.render(true);
  }

  /** Expands what is above the selection, and brings it into sight. */
  private reveal(): void {
    const { viewer, rows } = this;
    const { node } = viewer.selection;
    const way = wayTo(viewer.shown, node);
    const from = way.indexOf(viewer.view);
    if (from < 0) return;
    const closed = way.slice(from, -1).filter((above) => !rows.expanded.has(above));
    if (closed.length > 0) {
      for (const above of closed) rows.expanded.add(above);
      this.fill();
    }
    this.scrollTo(rows.indexOf(node));
  }

  private get seen(): number {
    return Math.max(1, Math.floor(this.room / this.rowHeight));
  }

  /** Brings a row into sight at the next drawing. */
  private scrollTo(index: number): void {
    if (index < 0) return;
    // Without a height everything is below it.
    this.isSoughtLater = this.room <= 0;
    if (this.isSoughtLater) return;
    const { first, scale } = this.window();
    const top = index * this.rowHeight;
    const shownFrom = first * this.rowHeight;
    if (top < shownFrom) this.top = top / scale;
    else if (top + this.rowHeight > shownFrom + this.room) this.top = (top + this.rowHeight - this.room) / scale;
  }

  /** The height of all rows, as the page has it. */
  private get height(): number {
    return Math.min(this.rows.rows.length * this.rowHeight, HEIGHT_MAX);
  }

  /** Which row is at the top, and how much faster rows pass than pixels. */
  private window(): { first: number; scale: number } {
    const { height, room } = this;
    const whole = this.rows.rows.length * this.rowHeight;
    const scale = whole > height ? (whole - room) / (height - room) : 1;
    // Fewer rows than before: the page scrolls back by itself.
    this.top = Math.max(0, Math.min(this.top, height - room));
    return { first: (this.top * scale) / this.rowHeight, scale };
  }

  private render(isForced = false): void {
    const { rows, body, grid } = this;
    const { height } = this;
    const length = rows.rows.length;
    body.style.height = this.isPrinting ? "auto" : `${height}px`;
    const { first: exact } = this.window();
    const first = this.isPrinting ? 0 : Math.max(0, Math.floor(exact) - 4);
    const last = this.isPrinting ? Math.min(length, PRINTED) : Math.min(length, Math.ceil(exact) + this.seen + 6);
    if (!isForced && first === this.first && last === this.last && length * this.rowHeight === height) return;
    this.first = first;
    this.last = last;
    const made: HTMLElement[] = [];
    // The rows lie where the scroll is, whatever the height of all of them would be.
    const start = this.isPrinting ? 0 : this.top - (exact - first) * this.rowHeight;
    for (let index = first; index < last; index++) {
      const row = this.row(index);
      if (!this.isPrinting) row.style.transform = `translateY(${start + (index - first) * this.rowHeight}px)`;
      row.style.height = `${this.rowHeight}px`;
      made.push(row);
    }
    if (this.isPrinting && last < length) {
      made.push(el("div", { class: "row rest" }, `… ${count(length - last)} more`));
    }
    body.replaceChildren(...made);
    if (this.top !== this.topOfPage) {
      grid.scrollTop = this.top;
      this.topOfPage = this.top;
    }
    const cursor = rows.indexOf(this.viewer.selection.node);
    if (cursor >= first && cursor < last) grid.setAttribute("aria-activedescendant", `row-${cursor}`);
    else grid.removeAttribute("aria-activedescendant");
  }

  private row(index: number): HTMLElement {
    const { viewer, rows } = this;
    const { shown, view, facts, measure } = viewer;
    const { node, level, position, of } = rows.at(index)!;
    const isSelected = viewer.selection.node === node;
    const isExpandable = rows.canExpand(shown, node);
    const isExpanded = rows.expanded.has(node);
    const bytes = bytesOf(shown, node, measure);
    const whole = bytesOf(shown, view, measure);
    const property = viewer.colour;
    const value = propertyOf(shown, node, property, viewer.ages);
    const colour = viewer.legends[property].find((entry) => entry.value === value)?.colour ?? OTHER;
    const flags = shown.flags(node);
    const kind = shown.kind(node);

    const twist = el("span", { class: "twist" });
    if (isExpandable) twist.append(icon(TWIST));
    const name = el("div", { role: "gridcell", class: "c-name" }, twist, swatch(css(colour), isMixed(shown, node)), named(label(shown, node)));
    name.style.setProperty("--level", String(Math.min(level - 1, 24)));
    if (isContainer(shown, node)) name.classList.add("directory");
    if (kind === Kind.Others || kind === Kind.Own) name.classList.add("quiet");
    const badge = flags & Flag.Unreadable ? "not read" : flags & Flag.Excluded ? "excluded"
      : flags & Flag.OtherFileSystem ? "other file system" : flags & Flag.CountedElsewhere ? "hard link"
      : kind === Kind.Link ? "link" : undefined;
    if (badge !== undefined) name.append(el("span", { class: "badge" }, badge));
    const mark = viewer.marks.find((other) => other.node === node);
    if (mark !== undefined) name.append(el("span", { class: "mark", title: facts.worth[mark.number - 1]!.note }, String(mark.number)));

    const part = fraction(bytes, whole);
    const cell = (className: string, ...children: (string | Node)[]) =>
      el("div", { role: "gridcell", class: className }, ...children);
    const row = el("div", {
      role: "row",
      class: `row${isSelected ? " selected" : ""}${this.isFaded(node) ? " faded" : ""}`,
      id: `row-${index}`,
      "aria-level": level,
      "aria-posinset": position,
      "aria-setsize": of,
      "aria-rowindex": index + 2,
      "aria-selected": isSelected ? "true" : "false",
      "aria-expanded": isExpandable ? (isExpanded ? "true" : "false") : undefined,
      "aria-label": spoken(shown, node, measure, view, viewer.wholeName()),
      "data-index": index,
    },
      name,
      cell("c-disk", sizeOf(shown, node, "allocated")),
      cell("c-share", bar(part, css(colour)), el("span", { class: "percent" }, share(bytes, whole))),
      cell("c-apparent", sizeOf(shown, node, "apparent")),
      cell("c-entries", kind === Kind.Own ? "" : count(shown.entries(node))),
      cell("c-newest", day(shown.newest(node))),
      cell("c-owner", ownerName(facts, shown.owner(node))),
    );
    return row;
  }

  private isFaded(node: number): boolean {
    const { viewer } = this;
    const { filter, search, shown } = viewer;
    if (filter.isEmpty()) return false;
    const origin = shown.origin(node);
    if (search !== undefined && (origin === NO_NODE || !search.hasMatch(origin))) return true;
    if (viewer.chosen === undefined) return false;
    if (shown.childCount(node) > 0) return !viewer.chosen.isAbove(node);
    // Of smaller items only the largest part is known.
    return !filter.hasProperties(shown, node, viewer.ages);
  }

  // The pointer and the keys.

  private indexAt(event: Event): number {
    const row = (event.target as Element).closest<HTMLElement>(".row[data-index]");
    return row === null ? -1 : Number(row.dataset.index);
  }

  placeOfSelection(): { x: number; y: number } {
    const row = this.body.querySelector(".selected") ?? this.grid;
    const { left, top } = row.getBoundingClientRect();
    return { x: left + 24, y: top + 24 };
  }

  private click(event: MouseEvent): void {
    const index = this.indexAt(event);
    const row = this.rows.at(index);
    if (row === undefined) return;
    if ((event.target as Element).closest(".twist") !== null && this.rows.canExpand(this.viewer.shown, row.node)) {
      this.setExpanded(row.node, !this.rows.expanded.has(row.node));
    }
    this.viewer.select(row.node);
  }

  private setExpanded(node: number, isExpanded: boolean): void {
    const { viewer, rows } = this;
    if (isExpanded) {
      rows.expanded.add(node);
      if (viewer.shown.isClosed(node)) {
        void viewer.load([node]);
        return;
      }
    } else {
      rows.expanded.delete(node);
    }
    this.refill();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.grid) return;
    const { viewer, rows } = this;
    const { shown } = viewer;
    const index = Math.max(0, rows.indexOf(viewer.selection.node));
    const { node } = rows.at(index)!;
    const isExpanded = rows.expanded.has(node) && rows.canExpand(shown, node);
    const go = (to: number) => {
      const row = rows.at(Math.max(0, Math.min(rows.rows.length - 1, to)));
      if (row !== undefined) viewer.select(row.node);
    };
    switch (event.key) {
      case "ArrowDown": go(index + 1); break;
      case "ArrowUp": go(index - 1); break;
      case "PageDown": go(index + this.seen - 1); break;
      case "PageUp": go(index - this.seen + 1); break;
      case "Home": go(0); break;
      case "End": go(rows.rows.length - 1); break;
      case "ArrowRight":
        if (!rows.canExpand(shown, node)) break;
        if (isExpanded) go(index + 1);
        else this.setExpanded(node, true);
        break;
      case "ArrowLeft":
        if (isExpanded && index > 0) this.setExpanded(node, false);
        else go(rows.above(index));
        break;
      case "Enter":
        if (isContainer(shown, node) && node !== viewer.view) viewer.zoom(node);
        break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private print(isPrinting: boolean): void {
    this.isPrinting = isPrinting;
    this.render(true);
  }
}
