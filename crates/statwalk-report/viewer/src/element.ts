// SPDX-License-Identifier: MIT OR Apache-2.0

// Elements of the page. Text goes in as text alone: nothing here parses markup, and the
// page's policy would not let it.

export type Child = Node | string | undefined;

interface Properties {
  class?: string;
  /** Attributes; `undefined` leaves one out. */
  [attribute: string]: string | number | boolean | undefined;
}

export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

export function button(
  properties: Properties,
  onClick: (event: MouseEvent) => void,
  ...children: Child[]
): HTMLButtonElement {
  const made = el("button", { type: "button", ...properties }, ...children);
  made.addEventListener("click", onClick);
  return made;
}

/** A name of a file: isolated, so that letters written from the right move nothing else. */
export function named(text: string, tag: "span" | "code" = "span"): HTMLElement {
  return el(tag, { class: "name", dir: "ltr" }, text);
}

export function swatch(colour: string, isHatched = false): HTMLElement {
  const made = el("span", { class: isHatched ? "swatch hatched" : "swatch", "aria-hidden": "true" });
  made.style.setProperty("--colour", colour);
  return made;
}

/** A bar of a part of the whole, beside its number. */
export function bar(part: number, colour?: string): HTMLElement {
  const fill = el("span", { class: "fill" });
  fill.style.width = `${(part * 100).toFixed(2)}%`;
  if (colour !== undefined) fill.style.setProperty("--colour", colour);
  return el("span", { class: "bar", "aria-hidden": "true" }, fill);
}

const SVG = "http://www.w3.org/2000/svg";

export function icon(path: string, className = "icon"): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", className);
  svg.setAttribute("aria-hidden", "true");
  const drawn = document.createElementNS(SVG, "path");
  drawn.setAttribute("d", path);
  svg.append(drawn);
  return svg;
}
