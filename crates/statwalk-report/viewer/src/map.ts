// SPDX-License-Identifier: MIT OR Apache-2.0

// The treemap: a canvas for the cells, one above it for what the reader points at, and for a
// screen reader a list of the largest cells in place of both.

import { valuesOf } from "./colouring";
import { label, smallerItems, spoken } from "./describe";
import { el } from "./element";
import { Cell, Layout } from "./layout";
import { count } from "./locale";
import type { Menu } from "./menu";
import { Painter, type CellStyle, type Theme } from "./painter";
import { css, INK, mix, OTHER, rgb, type Rgb } from "./palette";
import { wayTo } from "./path";
import { share } from "./share";
import { size, spokenSize } from "./size";
import type { Tooltip } from "./tooltip";
import { bytesOf, Flag, isContainer, isMixed, NO_NODE } from "./tree";
import type { Change, Selection, Viewer } from "./viewer";

/** Areas below this many CSS pixels are put together; on large screens the next. */
const AREA_MIN = 9;
const AREA_MIN_LARGE = 16;
const LARGE = 4_000_000;
const STRIP = 18;
/** How deep directories have strips: deeper, the strips would eat the cells. */
const STRIPS_MAX = 3;
/** How many cells the list for screen readers has. */
const MIRRORED = 60;
const ZOOM_MS = 200;
/** The stripes of a cell of the list of ten under the pointer; its ring and number at rest. */
const STRIPES = ["#15181c", "#ffd400"] as const;
/** Cells of this area have their block read at once, as many as these. */
const OPENED_AREA = 6000;
const OPENED_MAX = 8;

export class MapView {
  readonly element: HTMLElement;
  layout: Layout | undefined;
  private readonly canvas = el("canvas", { class: "cells", "aria-hidden": "true" });
  private readonly overlay = el("canvas", { class: "overlay", "aria-hidden": "true" });
  private readonly empty = el("p", { class: "empty", hidden: true });
  /** What the focus is on: the list of cells, drawn by the canvases. */
  readonly focus = el("div", {
    class: "map-focus", role: "listbox", tabindex: 0, "aria-label": "Map", id: "map",
  });
  private readonly options: HTMLElement[] = [];
  private values: Int32Array | undefined;
  private scale = 1;
  private opening = 0;
  private isPlaced = false;
  /** Pixels of the device in a pixel of the design, where text has its usual size. */
  private unit = 1;
  private animation = 0;
  private order = -1;
  private theme: Theme | undefined;
  private labelFont = "";

  constructor(
    private readonly viewer: Viewer,
    private readonly tooltip: Tooltip,
    private readonly menu: Menu,
  ) {
    this.focus.append(this.canvas, this.overlay, this.empty);
    this.element = el("div", { class: "map" }, this.focus);
    new ResizeObserver(() => this.resize()).observe(this.focus);
    viewer.listen((changes) => this.update(changes));
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", () => {
        this.theme = undefined;
        this.paint();
      });
    }
    this.listen();
  }

  // Changes.

  private update(changes: Set<Change>): void {
    if (changes.has("view") || changes.has("measure") || changes.has("options")) {
      this.relayout(changes.has("view"));
    } else if (changes.has("colour")) {
      this.values = undefined;
      this.paint();
    } else if (changes.has("filter") || changes.has("lit")) {
      this.paint();
    } else if (changes.has("selection") || changes.has("hover")) {
      this.drawOverlay();
    }
    // Without its list, the map's selection waits for the list.
    if (changes.has("selection") && this.options.length > 0) this.mirrorSelection();
  }

  private resize(): void {
    const { width, height } = this.focus.getBoundingClientRect();
    if (width < 1 || height < 1) return;
    const scale = window.devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
    if (this.layout && w === this.canvas.width && h === this.canvas.height && scale === this.scale) return;
    this.scale = scale;
    this.unit = (scale * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)) / 14;
    this.isPlaced = true;
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = w;
      canvas.height = h;
    }
    this.relayout(false);
  }

  private relayout(isZoom: boolean): void {
    // What it tells of is no longer there, or elsewhere.
    this.tooltip.hide();
    if (!this.isPlaced) return;
    const { viewer, scale, unit } = this;
    const { width, height } = this.canvas;
    const before = this.layout;
    const moves = isZoom && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    const old = moves && before !== undefined ? this.copy() : undefined;
    performance.mark("statwalk-layout");
    const areaMin = (width * height > LARGE ? AREA_MIN_LARGE : AREA_MIN) * scale * scale;
    const strip = Math.round(STRIP * unit);
    this.layout = new Layout(viewer.shown, viewer.view, {
      width,
      height,
      measure: viewer.measure,
      areaMin,
      strip: (w, h, depth) => (depth <= STRIPS_MAX && w >= 76 * unit && h >= 52 * unit ? strip : 0),
      border: Math.max(1, Math.round(2 * unit)),
      free: viewer.showsFree && viewer.isWhole() ? viewer.facts.free_bytes : undefined,
    });
    this.values = undefined;
    this.order = -1;
    const isEmpty = bytesOf(viewer.shown, viewer.view, viewer.measure) === 0n;
    this.empty.hidden = !isEmpty;
    this.empty.textContent = viewer.shown.isClosed(viewer.view) ? "Reading…" : "0 bytes: nothing to draw";
    this.forgetMirror();
    if (old === undefined || before === undefined) this.paint();
    else this.animate(old, before);
    performance.mark("statwalk-map");
    // The cells that are there come to the screen first.
    clearTimeout(this.opening);
    requestAnimationFrame(() => {
      clearTimeout(this.opening);
      this.opening = window.setTimeout(() => {
        this.mirror();
        this.openVisible();
      });
    });
  }

  /** Reads the blocks of large cells, so that the map is as fine as the file can make it. */
  private openVisible(): void {
    const { viewer, layout, scale } = this;
    if (layout === undefined) return;
    const closed: number[] = [];
    for (const index of layout.largestFirst()) {
      const area = (layout.x1[index]! - layout.x0[index]!) * (layout.y1[index]! - layout.y0[index]!);
      if (area < OPENED_AREA * scale * scale || closed.length === OPENED_MAX) break;
      const node = layout.node[index]!;
      if (layout.cell[index] === Cell.Leaf && viewer.shown.isClosed(node)) closed.push(node);
    }
    if (closed.length > 0) void viewer.load(closed, () => this.layout === layout);
  }

  // Drawing.

  private themeNow(): Theme {
    if (this.theme === undefined) {
      const style = getComputedStyle(document.documentElement);
      const value = (name: string): Rgb => rgb(style.getPropertyValue(name));
      this.theme = {
        page: value("--map-page"),
        frames: [value("--map-frame"), value("--map-frame-2")],
        free: value("--map-free"),
        ring: rgb(STRIPES[0]),
        unreadable: rgb("#7a1f1f"),
      };
      this.labelFont = getComputedStyle(document.body).fontFamily;
    }
    return this.theme;
  }

  /** Paints the cells and their names. */
  private paint(): void {
    cancelAnimationFrame(this.animation);
    this.draw(this.canvas);
    this.drawOverlay();
  }

  private draw(canvas: HTMLCanvasElement): void {
    const { layout, viewer } = this;
    if (layout === undefined) return;
    const theme = this.themeNow();
    this.values ??= valuesOf(layout, viewer.colour, viewer.ages);
    const values = this.values;
    const colours = new Map(viewer.legends[viewer.colour].map(({ value, colour }) => [value, colour]));
    const isLit = this.litTest();
    const style: CellStyle = { colour: OTHER, isFaded: false, isHatched: false, isUnreadable: false };
    const painter = new Painter(layout, this.unit, theme);
    painter.paint((index) => {
      const node = layout.node[index]!;
      const isLeaf = layout.cell[index] === Cell.Leaf;
      style.colour = colours.get(values[index]!) ?? OTHER;
      style.isFaded = !isLit(index);
      style.isHatched = !isLeaf || isMixed(layout.tree, node);
      style.isUnreadable = isLeaf && (layout.tree.flags(node) & Flag.Unreadable) !== 0;
      return style;
    });
    const marked = viewer.showsMarks ? this.markedCells() : [];
    for (const { cell } of marked) painter.ring(cell);
    const context = canvas.getContext("2d", { alpha: false })!;
    context.putImageData(painter.image, 0, 0);
    this.drawNames(context, isLit, new Set(marked.map(({ cell }) => cell)));
    this.drawNumbers(context, marked);
  }

  /** Which cells are not faded now. */
  private litTest(): (cell: number) => boolean {
    const { layout, viewer } = this;
    const { lit, filter, search, shown } = viewer;
    if (layout === undefined || !viewer.fades()) return () => true;
    const values = this.values!;
    const litValues = lit === undefined ? undefined
      : lit.property === viewer.colour ? values : valuesOf(layout, lit.property, viewer.ages);
    return (index) => {
      if (lit !== undefined && litValues![index] !== lit.value) return false;
      if (filter.isEmpty()) return true;
      const cell = layout.cell[index];
      if (cell === Cell.Free) return false;
      const node = layout.node[index]!;
      const origin = shown.origin(node);
      if (search !== undefined) {
        // A directory that is one cell is lit by what is in it; a rest is of its directory.
        const isFound = origin !== NO_NODE
          && (cell === Cell.Rest ? search.isMatch(origin) : search.hasMatch(origin));
        if (!isFound) return false;
      }
      if (cell === Cell.Rest) {
        const property = viewer.colour;
        const { chosen } = filter;
        if (chosen.ending.size > 0) return false;
        return (["category", "owner", "age"] as const).every((other) =>
          chosen[other].size === 0 || (other === property && chosen[other].has(values[index]!)));
      }
      return filter.hasProperties(shown, node, viewer.ages);
    };
  }

  private markedCells(): { cell: number; number: number }[] {
    const { layout, viewer } = this;
    const found = new Map<number, number>();
    for (const { node, number } of viewer.marks) {
      const cell = layout!.cellOf(node);
      const isItself = cell > 0 && layout!.node[cell] === node && layout!.cell[cell] !== Cell.Rest;
      if (isItself && !found.has(cell)) found.set(cell, number);
    }
    return Array.from(found, ([cell, number]) => ({ cell, number }));
  }

  private drawNames(context: CanvasRenderingContext2D, isLit: (cell: number) => boolean, marked: Set<number>): void {
    const { layout, viewer, unit } = this;
    if (layout === undefined) return;
    const { tree } = layout;
    const fonts = {
      strip: `600 ${11.5 * unit}px ${this.labelFont}`,
      leaf: `${11.5 * unit}px ${this.labelFont}`,
      size: `${10.5 * unit}px ${this.labelFont}`,
    };
    const frameInk = css(rgb(getComputedStyle(document.documentElement).getPropertyValue("--map-ink")));
    const ink = css(INK);
    const widths = new Widths(context);
    context.textBaseline = "middle";
    for (let index = 1; index < layout.count; index++) {
      const x0 = layout.x0[index]!;
      const y0 = layout.y0[index]!;
      const width = layout.x1[index]! - x0;
      const height = layout.y1[index]! - y0;
      const cell = layout.cell[index];
      const node = layout.node[index]!;
      // Labels stay clear of the ring around a marked cell.
      const isMarked = marked.has(index);
      const pad = (isMarked ? 7 : 5) * unit;
      if (cell === Cell.Frame) {
        const strip = layout.strip[index]!;
        if (strip === 0) continue;
        const middle = y0 + strip / 2 + (isMarked ? 3 : 1) * unit;
        const bytes = size(bytesOf(tree, node, viewer.measure));
        context.fillStyle = frameInk;
        widths.font(fonts.size);
        const bytesWidth = widths.of(bytes);
        const room = width - pad * 2;
        const hasSize = room > bytesWidth + 70 * unit;
        if (hasSize) {
          context.globalAlpha = 0.86;
          context.fillText(bytes, x0 + width - pad - bytesWidth, middle);
          context.globalAlpha = 1;
        }
        widths.font(fonts.strip);
        const text = widths.cut(label(tree, node), hasSize ? room - bytesWidth - pad * 2 : room);
        context.fillText(text, x0 + pad, middle);
        continue;
      }
      if (width < 46 * unit || height < 18 * unit) continue;
      if (!isLit(index)) continue;
      context.fillStyle = cell === Cell.Free ? frameInk : ink;
      widths.font(fonts.leaf);
      const room = width - pad * 2;
      const name = cell === Cell.Free ? "free space"
        : cell === Cell.Rest ? smallerItems(layout.entries(index)) : label(tree, node);
      const text = widths.cut(name, room);
      if (text.length < 3 && name.length > 3) continue;
      const line = 15 * unit;
      const top = y0 + (isMarked ? 7 : 3) * unit;
      const hasSize = y0 + height >= top + line * 2 + unit;
      const isHatched = cell === Cell.Rest || (cell === Cell.Leaf && isMixed(tree, node));
      const bytes = hasSize ? size(layout.bytes(index)) : "";
      if (isHatched) {
        // Text on stripes is hard to read: it stands on a plain ground.
        const wide = Math.max(widths.of(text), hasSize ? widths.of(bytes) : 0);
        const colour = viewer.legends[viewer.colour].find(({ value }) => value === this.values![index])?.colour ?? OTHER;
        context.fillStyle = css(mix(colour, [255, 255, 255], 0.15));
        context.beginPath();
        context.roundRect(x0 + pad - 3 * unit, top, Math.min(wide, room) + 6 * unit, hasSize ? line * 2 : line, 3 * unit);
        context.fill();
        context.fillStyle = ink;
      }
      context.fillText(text, x0 + pad, top + line / 2);
      if (hasSize) {
        widths.font(fonts.size);
        if (widths.of(bytes) <= room) context.fillText(bytes, x0 + pad, top + line * 1.5);
      }
    }
  }

  private drawNumbers(context: CanvasRenderingContext2D, marked: { cell: number; number: number }[]): void {
    const { layout, unit } = this;
    const font = `700 ${10.5 * unit}px ${this.labelFont}`;
    const radius = 8 * unit;
    context.textBaseline = "middle";
    context.textAlign = "center";
    context.font = font;
    for (const { cell, number } of marked) {
      const [x0, y0, x1, y1] = [layout!.x0[cell]!, layout!.y0[cell]!, layout!.x1[cell]!, layout!.y1[cell]!];
      if (x1 - x0 < radius * 2.4 || y1 - y0 < radius * 2.4) continue;
      const [x, y] = [x1 - radius - 2 * unit, y1 - radius - 2 * unit];
      context.fillStyle = STRIPES[0];
      context.beginPath();
      context.arc(x, y, radius, 0, Math.PI * 2);
      context.fill();
      context.fillStyle = STRIPES[1];
      context.fillText(String(number), x, y + unit / 2);
    }
    context.textAlign = "start";
  }

  private drawOverlay(): void {
    const { layout, viewer, overlay, scale } = this;
    const context = overlay.getContext("2d")!;
    context.clearRect(0, 0, overlay.width, overlay.height);
    if (layout === undefined) return;
    const ring = (cell: number, widths: [string, number][]) => {
      if (cell <= 0) return;
      const [x0, y0] = [layout.x0[cell]!, layout.y0[cell]!];
      const [w, h] = [layout.x1[cell]! - x0, layout.y1[cell]! - y0];
      for (const [colour, width] of widths) {
        // Inside of the cell where that has room, so that no edge of the map cuts it.
        const inset = Math.min(width / 2, w / 2, h / 2);
        context.strokeStyle = colour;
        context.lineWidth = width;
        context.strokeRect(x0 + inset, y0 + inset, Math.max(0, w - inset * 2), Math.max(0, h - inset * 2));
      }
    };
    if (viewer.hovered !== undefined) {
      const cell = this.cellOf(viewer.hovered);
      const isMarked = viewer.showsMarks && this.markedCells().some((marked) => marked.cell === cell);
      ring(cell, isMarked ? [[STRIPES[0], 5 * scale]] : [["#fff", 3 * scale], ["#0b0d10", 1.5 * scale]]);
      if (isMarked) {
        context.setLineDash([6 * scale, 6 * scale]);
        ring(cell, [[STRIPES[1], 5 * scale]]);
        context.setLineDash([]);
      }
    }
    const cell = this.cellOf(viewer.selection);
    const accent = getComputedStyle(document.documentElement).getPropertyValue("--ring").trim();
    ring(cell, [["#fff", 5.5 * scale], [accent, 3.5 * scale]]);
  }

  // Zoom.

  private copy(): HTMLCanvasElement {
    const copy = el("canvas");
    copy.width = this.canvas.width;
    copy.height = this.canvas.height;
    copy.getContext("2d", { alpha: false })!.drawImage(this.canvas, 0, 0);
    return copy;
  }

  /** Lets the new view grow out of its old place, or the old one shrink into the new. */
  private animate(old: HTMLCanvasElement, before: Layout): void {
    cancelAnimationFrame(this.animation);
    const place = this.placeIn(before);
    const target = this.layout!;
    this.draw(this.canvas);
    this.drawOverlay();
    if (place === undefined) return;
    const next = this.copy();
    const context = this.canvas.getContext("2d", { alpha: false })!;
    const { width, height } = this.canvas;
    const start = performance.now();
    this.overlay.hidden = true;
    const step = (now: number) => {
      if (this.layout !== target) return;
      const part = Math.min(1, Math.max(0, (now - start) / ZOOM_MS));
      const eased = 1 - (1 - part) ** 3;
      const { rect: [x0, y0, w, h], isIn } = place;
      // Where the inner view lies now.
      const open = isIn ? eased : 1 - eased;
      const [x, y] = [x0 * (1 - open), y0 * (1 - open)];
      const [iw, ih] = [w + (width - w) * open, h + (height - h) * open];
      const outer = isIn ? old : next;
      const inner = isIn ? next : old;
      const [sx, sy] = [iw / w, ih / h];
      context.drawImage(outer, x - x0 * sx, y - y0 * sy, width * sx, height * sy);
      context.globalAlpha = open;
      context.drawImage(inner, x, y, iw, ih);
      context.globalAlpha = 1;
      if (part < 1) {
        this.animation = requestAnimationFrame(step);
      } else {
        context.drawImage(next, 0, 0);
        this.overlay.hidden = false;
      }
    };
    step(start);
    // A page in the background draws no frames.
    if (document.hidden) step(start + ZOOM_MS);
  }

  private placeIn(before: Layout): { rect: [number, number, number, number]; isIn: boolean } | undefined {
    const after = this.layout!;
    if (before.tree !== after.tree || before.view === after.view) return undefined;
    const isIn = wayTo(after.tree, after.view).includes(before.view);
    const [outer, view] = isIn ? [before, after.view] : [after, before.view];
    const cell = outer.cellOf(view);
    if (cell <= 0) return undefined;
    const [x0, y0] = [outer.x0[cell]!, outer.y0[cell]!];
    const [w, h] = [outer.x1[cell]! - x0, outer.y1[cell]! - y0];
    return w < 2 || h < 2 ? undefined : { rect: [x0, y0, w, h], isIn };
  }

  // The pointer and the keys.

  private at(event: MouseEvent): number {
    const { left, top } = this.focus.getBoundingClientRect();
    return this.layout?.hit((event.clientX - left) * this.scale, (event.clientY - top) * this.scale) ?? -1;
  }

  private selectionOf(cell: number): Selection | undefined {
    const { layout } = this;
    if (layout === undefined || cell < 0 || layout.cell[cell] === Cell.Free) return undefined;
    return { node: layout.node[cell]!, isRest: layout.cell[cell] === Cell.Rest };
  }

  /** The cell that shows a selection. */
  private cellOf({ node, isRest }: Selection): number {
    const { layout } = this;
    if (layout === undefined) return -1;
    const cell = layout.cellOf(node);
    if (!isRest || cell < 0 || layout.cell[cell] !== Cell.Frame) return cell;
    for (let index = layout.firstInside[cell]!; index < layout.firstInside[cell]! + layout.insideCount[cell]!; index++) {
      if (layout.cell[index] === Cell.Rest) return index;
    }
    return cell;
  }

  private choose(cell: number): void {
    const selection = this.selectionOf(cell);
    if (selection !== undefined) this.viewer.select(selection.node, selection.isRest);
  }

  /** Zooms to a directory, or to the one that holds a cell. */
  private enter(cell: number): void {
    const { viewer, layout } = this;
    const selection = this.selectionOf(cell);
    if (selection === undefined || layout === undefined) return;
    let { node } = selection;
    if (!isContainer(viewer.shown, node)) node = viewer.shown.parent(node);
    if (node === viewer.view || node === NO_NODE) return;
    viewer.zoom(node);
  }

  private listen(): void {
    const { focus, viewer } = this;
    focus.addEventListener("pointermove", (event) => {
      const cell = this.at(event);
      viewer.hover(this.selectionOf(cell));
      if (cell >= 0 && event.pointerType === "mouse") {
        const { layout } = this;
        this.tooltip.show(event.clientX, event.clientY, this.selectionOf(cell), layout!.bytes(cell), layout!.entries(cell));
      } else {
        this.tooltip.hide();
      }
    });
    focus.addEventListener("pointerleave", () => {
      viewer.hover(undefined);
      this.tooltip.hide();
    });
    focus.addEventListener("click", (event) => this.choose(this.at(event)));
    focus.addEventListener("dblclick", (event) => {
      event.preventDefault();
      this.enter(this.at(event));
    });
    focus.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      this.tooltip.hide();
      // From the keyboard it comes without a place.
      const isByKey = event.button !== 2 && event.clientX === 0 && event.clientY === 0;
      if (!isByKey) this.choose(this.at(event));
      const { x, y } = isByKey ? this.placeOfSelection() : { x: event.clientX, y: event.clientY };
      this.menu.open(x, y, viewer.selection.node, focus);
    });
    focus.addEventListener("keydown", (event) => this.key(event));
  }

  placeOfSelection(): { x: number; y: number } {
    const { left, top } = this.focus.getBoundingClientRect();
    const cell = Math.max(0, this.cellOf(this.viewer.selection));
    return {
      x: left + (this.layout?.x0[cell] ?? 0) / this.scale + 8,
      y: top + (this.layout?.y0[cell] ?? 0) / this.scale + 8,
    };
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || this.layout === undefined) return;
    const { viewer, layout } = this;
    const cell = Math.max(0, this.cellOf(viewer.selection));
    switch (event.key) {
      case "ArrowLeft": this.move(cell, -1, 0); break;
      case "ArrowRight": this.move(cell, 1, 0); break;
      case "ArrowUp": this.move(cell, 0, -1); break;
      case "ArrowDown": this.move(cell, 0, 1); break;
      case "n": this.bySize(cell, 1); break;
      case "p": this.bySize(cell, -1); break;
      case "Enter": this.enter(cell); break;
      case "PageUp":
        if (layout.parent[cell]! > 0) this.choose(layout.parent[cell]!);
        break;
      case "PageDown":
        if (layout.insideCount[cell]! > 0) this.choose(layout.firstInside[cell]!);
        break;
      case "Home": this.chooseBySize(0); break;
      case "End": this.chooseBySize(layout.largestFirst().length - 1); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** To the cell beyond the edge, as deep as this one. */
  private move(cell: number, dx: number, dy: number): void {
    const layout = this.layout!;
    if (cell === 0) return this.chooseBySize(0);
    const [x0, y0, x1, y1] = [layout.x0[cell]!, layout.y0[cell]!, layout.x1[cell]!, layout.y1[cell]!];
    const depth = layout.depth[cell]!;
    let x = dx === 0 ? (x0 + x1) >> 1 : dx < 0 ? x0 - 1 : x1;
    let y = dy === 0 ? (y0 + y1) >> 1 : dy < 0 ? y0 - 1 : y1;
    // Frames lie between cells: on to the first thing behind them.
    for (;;) {
      let found = layout.hit(x, y);
      if (found < 0) return;
      if (layout.cell[found] === Cell.Frame && layout.depth[found]! < depth) {
        x += dx;
        y += dy;
        continue;
      }
      while (layout.depth[found]! > depth) found = layout.parent[found]!;
      if (layout.cell[found] === Cell.Free) return;
      return this.choose(found);
    }
  }

  private bySize(cell: number, step: number): void {
    const order = this.layout!.largestFirst();
    if (this.order < 0 || order[this.order] !== cell) this.order = order.indexOf(cell);
    this.chooseBySize(this.order < 0 ? 0 : this.order + step);
  }

  private chooseBySize(at: number): void {
    const order = this.layout!.largestFirst();
    if (at < 0 || at >= order.length) return;
    this.order = at;
    this.choose(order[at]!);
  }

  // The list for screen readers.

  private forgetMirror(): void {
    for (const option of this.options) option.remove();
    this.options.length = 0;
    this.focus.removeAttribute("aria-activedescendant");
  }

  private mirror(): void {
    const { layout, focus, viewer } = this;
    if (layout === undefined) return;
    this.forgetMirror();
    const order = layout.largestFirst();
    for (let at = 0; at < Math.min(order.length, MIRRORED); at++) {
      const option = this.option(order[at]!, at + 1, order.length);
      if (option !== undefined) focus.append(option);
    }
    const { shown, view, measure } = viewer;
    const whole = bytesOf(shown, view, measure);
    focus.setAttribute("aria-label",
      `Map of ${label(shown, view)}: ${spokenSize(whole)} in ${count(order.length)} cells, the largest first`);
    this.mirrorSelection();
  }

  private option(cell: number, at: number, of: number): HTMLElement | undefined {
    const { layout, viewer } = this;
    const selection = this.selectionOf(cell);
    if (selection === undefined) return undefined;
    const bytes = layout!.bytes(cell);
    const { shown, view, measure } = viewer;
    const text = selection.isRest
      ? `${smallerItems(layout!.entries(cell))} of ${label(shown, selection.node)}, ${spokenSize(bytes)}, ${share(bytes, bytesOf(shown, view, measure))} of ${label(shown, view)}`
      : spoken(shown, selection.node, measure, view, viewer.wholeName());
    const option = el("div", {
      class: "sr", role: "option", id: `cell-${cell}`, "aria-selected": "false",
      "aria-posinset": at, "aria-setsize": of,
    }, text);
    this.options.push(option);
    return option;
  }

  private mirrorSelection(): void {
    const { layout, focus, options, viewer } = this;
    if (layout === undefined) return;
    const cell = this.cellOf(viewer.selection);
    for (const option of options) option.setAttribute("aria-selected", "false");
    if (cell < 0) {
      focus.removeAttribute("aria-activedescendant");
      return;
    }
    const id = `cell-${cell}`;
    let option = options.find((other) => other.id === id);
    if (option === undefined) {
      const order = layout.largestFirst();
      const at = order.indexOf(cell);
      option = this.option(cell, Math.max(1, at + 1), order.length);
      if (option === undefined) return;
      focus.append(option);
    }
    option.setAttribute("aria-selected", "true");
    focus.setAttribute("aria-activedescendant", id);
  }
}

/** Widths of texts in one font after another, and texts cut to a width. */
class Widths {
  private readonly known = new Map<string, Map<string, number>>();
  private current = new Map<string, number>();

  constructor(private readonly context: CanvasRenderingContext2D) {}

  font(font: string): void {
    this.context.font = font;
    const known = this.known.get(font) ?? new Map<string, number>();
    this.known.set(font, known);
    this.current = known;
  }

  of(text: string): number {
    let width = this.current.get(text);
    if (width === undefined) {
      width = this.context.measureText(text).width;
      this.current.set(text, width);
    }
    return width;
  }

  cut(text: string, room: number): string {
    // A name can have thousands of letters; no cell has room for them.
    const letters = [...text.slice(0, 400)];
    if (letters.length * 2 < room && this.of(text) <= room) return text;
    if (text.length <= 400 && this.of(text) <= room) return text;
    let [low, high] = [0, letters.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const width = this.context.measureText(`${letters.slice(0, middle).join("")}…`).width;
      if (width <= room) low = middle;
      else high = middle - 1;
    }
    return low === 0 ? "" : `${letters.slice(0, low).join("")}…`;
  }
}
