// SPDX-License-Identifier: MIT OR Apache-2.0

// The cells as pixels. Writing them here instead of asking the canvas for each rectangle
// takes a fifth of the time, and no edge is ever half a pixel.

import { Cell, type Layout } from "./layout";
import { mix, type Rgb } from "./palette";

export interface Theme {
  page: Rgb;
  /** Frames of directories, by depth in turn. */
  frames: [Rgb, Rgb];
  free: Rgb;
  ring: Rgb;
  unreadable: Rgb;
}

export interface CellStyle {
  colour: Rgb;
  isFaded: boolean;
  isHatched: boolean;
  isUnreadable: boolean;
}

/** How a cell is cut against its neighbours, and hatched: parts of black in its colour. */
export const EDGE = 0.34;
export const HATCH = 0.13;
export const SHADE = 0.07;

const packed = ([red, green, blue]: Rgb): number =>
  ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

export class Painter {
  private readonly pixels: Uint32Array;
  readonly image: ImageData;

  constructor(
    private readonly layout: Layout,
    private readonly scale: number,
    private readonly theme: Theme,
  ) {
    const { width, height } = layout.options;
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  paint(styleOf: (cell: number) => CellStyle): void {
    const { layout, theme } = this;
    this.pixels.fill(packed(theme.page));
    for (let index = 0; index < layout.count; index++) {
      switch (layout.cell[index]) {
        case Cell.Frame:
          if (layout.strip[index]! > 0) this.frame(index);
          break;
        case Cell.Free:
          this.free(index);
          break;
        default:
          this.tile(index, styleOf(index));
      }
    }
    for (let index = 1; index < layout.count; index++) {
      if (layout.cell[index] === Cell.Frame && layout.strip[index] === 0) this.border(index);
    }
  }

  private each(index: number, draw: (from: number, to: number, x: number, y: number) => void): void {
    const { x0, y0, x1, y1, options: { width } } = this.layout;
    const left = x0[index]!;
    const right = x1[index]!;
    for (let y = y0[index]!; y < y1[index]!; y++) draw(y * width + left, y * width + right, left, y);
  }

  private frame(index: number): void {
    const colour = packed(this.theme.frames[this.layout.depth[index]! % 2]!);
    const edge = packed(mix(this.theme.frames[0], BLACK, 0.3));
    const { y1, y0 } = this.layout;
    this.each(index, (from, to, _, y) => {
      this.pixels.fill(colour, from, to);
      if (to - from > 2) this.pixels[to - 1] = edge;
      if (y === y1[index]! - 1 && y1[index]! - y0[index]! > 2) this.pixels.fill(edge, from, to);
    });
  }

  private tile(index: number, style: CellStyle): void {
    const { pixels, layout, theme, scale } = this;
    const fade = (colour: Rgb) => (style.isFaded ? mix(colour, theme.page, 0.84) : colour);
    const width = layout.x1[index]! - layout.x0[index]!;
    const height = layout.y1[index]! - layout.y0[index]!;
    const least = 3 * scale;
    if (width < least || height < least) {
      // Grains differ a little, so that thousands of them are no plain area.
      const tone = ((index * 2654435761) >>> 24) / 255;
      const colour = packed(fade(mix(style.colour, tone > 0.5 ? WHITE : BLACK, Math.abs(tone - 0.5) * 0.3)));
      this.each(index, (from, to) => pixels.fill(colour, from, to));
      return;
    }
    const edge = packed(fade(mix(style.colour, BLACK, EDGE)));
    const last = layout.y1[index]! - 1;
    const first = layout.y0[index]!;
    const isDrawn = width > 5 * scale && height > 5 * scale;
    const isHatched = style.isHatched && isDrawn;
    const period = Math.round(7 * scale);
    const thick = Math.max(2, Math.round(2.6 * scale));
    this.each(index, (from, to, left, y) => {
      if (y === last) {
        pixels.fill(edge, from, to);
        return;
      }
      // A light from above, as WinDirStat has it, and no more than text bears.
      const part = (y - first) / height;
      const tone = part < 0.5 ? mix(style.colour, WHITE, (0.5 - part) * 2 * SHADE * 2) : mix(style.colour, BLACK, (part - 0.5) * 2 * SHADE);
      const row = packed(fade(tone));
      pixels.fill(row, from, to - 1);
      pixels[to - 1] = edge;
      if (!isHatched && !style.isUnreadable) return;
      const mark = packed(fade(mix(tone, BLACK, HATCH)));
      const cross = packed(fade(theme.unreadable));
      for (let at = from, x = left; at < to - 1; at++, x++) {
        if (isHatched && (x + y) % period < thick) pixels[at] = mark;
        if (style.isUnreadable && isDrawn && ((x + y) % period < thick / 2 || (x - y + (1 << 20) * period) % period < thick / 2)) {
          pixels[at] = cross;
        }
      }
    });
  }

  private free(index: number): void {
    const plain = packed(this.theme.free);
    const dot = packed(mix(this.theme.free, this.theme.page[0] > 128 ? BLACK : WHITE, 0.14));
    const period = Math.round(8 * this.scale);
    const size = Math.max(1, Math.round(1.5 * this.scale));
    this.each(index, (from, to, left, y) => {
      this.pixels.fill(plain, from, to);
      if (y % period >= size) return;
      for (let at = from, x = left; at < to; at++, x++) if (x % period < size) this.pixels[at] = dot;
    });
  }

  /** The edge of a directory without a strip: over its cells, so that it takes no room. */
  private border(index: number): void {
    const { layout, pixels } = this;
    const { width } = layout.options;
    const [x0, y0, x1, y1] = [layout.x0[index]!, layout.y0[index]!, layout.x1[index]!, layout.y1[index]!];
    if (x1 - x0 < 8 * this.scale || y1 - y0 < 8 * this.scale) return;
    const darken = (at: number) => {
      const value = pixels[at]!;
      pixels[at] = (0xff000000 | ((value >>> 1 & 0x7f7f7f) + (value >>> 3 & 0x1f1f1f))) >>> 0;
    };
    for (let x = x0; x < x1; x++) darken((y1 - 1) * width + x);
    for (let y = y0; y < y1 - 1; y++) darken(y * width + x1 - 1);
  }

  /** A thin ring around a cell that the page's list of ten is about. */
  ring(index: number): void {
    const { layout, pixels, scale, theme } = this;
    const { width } = layout.options;
    const thick = Math.max(1, Math.round(1.5 * scale));
    const ink = packed(theme.ring);
    const [x0, y0, x1, y1] = [layout.x0[index]!, layout.y0[index]!, layout.x1[index]!, layout.y1[index]!];
    for (let y = y0; y < y1; y++) {
      const row = y * width;
      const isEdge = y - y0 < thick || y1 - 1 - y < thick;
      if (isEdge || x1 - x0 <= thick * 2) {
        pixels.fill(ink, row + x0, row + x1);
      } else {
        pixels.fill(ink, row + x0, row + x0 + thick);
        pixels.fill(ink, row + x1 - thick, row + x1);
      }
    }
  }
}
