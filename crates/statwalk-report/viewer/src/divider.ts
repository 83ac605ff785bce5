// SPDX-License-Identifier: MIT OR Apache-2.0

// The border between the table and the map, which a pointer or the arrow keys move.

import { el } from "./element";

/** What either side keeps, and how far one key moves, in pixels of the design. */
const LEAST = 220;
const STEP = 24;

/** A border after `side` in `main`. Home or a double click gives the width of the design. */
export function divider(main: HTMLElement, side: HTMLElement): HTMLElement {
  const element = el("div", {
    class: "divider", role: "separator", tabindex: 0, "aria-orientation": "vertical",
    "aria-label": "Width of the table", "aria-valuemin": 0, "aria-valuemax": 100,
    title: "Drag to give the table or the map more room; double-click for the usual width",
  });
  const tell = () => {
    const whole = main.clientWidth;
    if (whole > 0) element.setAttribute("aria-valuenow", String(Math.round((side.offsetWidth / whole) * 100)));
  };
  const reset = () => main.style.removeProperty("--side");
  const widen = (width: number) => {
    const most = Math.max(LEAST, main.clientWidth - LEAST);
    main.style.setProperty("--side", `${Math.round(Math.min(most, Math.max(LEAST, width)))}px`);
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    event.preventDefault();
    element.focus();
  });
  element.addEventListener("pointermove", (event) => {
    if (!element.hasPointerCapture(event.pointerId)) return;
    widen(event.clientX - main.getBoundingClientRect().left - element.offsetWidth / 2);
  });
  element.addEventListener("dblclick", reset);
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    switch (event.key) {
      case "ArrowLeft": widen(side.offsetWidth - STEP); break;
      case "ArrowRight": widen(side.offsetWidth + STEP); break;
      case "Home": reset(); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(tell).observe(side);
  return element;
}
