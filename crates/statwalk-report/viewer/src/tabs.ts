// SPDX-License-Identifier: MIT OR Apache-2.0

// The parts of the page beside the map: one at a time as tabs, or all below each other where
// the screen is wide, and on paper.

import { el } from "./element";

export interface Panel {
  id: string;
  /** The word on the tab. */
  label: string;
  /** The heading where there are no tabs. */
  title?: string;
  /** What a count beside the label says. */
  badge?: string | undefined;
  content: HTMLElement;
}

export class Tabs {
  readonly list = el("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the report" });
  readonly panels: HTMLElement[];
  private readonly tabs: HTMLButtonElement[];
  private chosen = 0;

  constructor(private readonly parts: Panel[]) {
    this.tabs = parts.map((part, index) => {
      const tab = el("button", { type: "button", role: "tab", id: `tab-${part.id}`, "aria-controls": `panel-${part.id}` }, part.label);
      if (part.badge !== undefined) tab.append(el("span", { class: "count" }, part.badge));
      tab.addEventListener("click", () => this.choose(index));
      return tab;
    });
    this.list.append(...this.tabs);
    this.panels = parts.map((part) => {
      const panel = el("section", { class: `panel panel-${part.id}`, role: "tabpanel", id: `panel-${part.id}`, "aria-labelledby": `tab-${part.id}` });
      panel.append(el("h2", { class: "panel-title" }, part.title ?? part.label), part.content);
      return panel;
    });
    this.list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const to = step !== undefined ? this.chosen + step : event.key === "Home" ? 0 : event.key === "End" ? -1 : undefined;
      if (to === undefined) return;
      this.choose((to + parts.length) % parts.length);
      this.tabs[this.chosen]!.focus();
      event.preventDefault();
      event.stopPropagation();
    });
    this.choose(0);
    // Without tabs, the parts are regions of the page.
    const isWide = matchMedia("(min-width: 2200px)");
    const name = () => {
      for (const panel of this.panels) panel.setAttribute("role", isWide.matches ? "region" : "tabpanel");
    };
    isWide.addEventListener("change", name);
    name();
  }

  choose(index: number): void {
    this.chosen = index;
    this.tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", at === index ? "true" : "false");
      tab.tabIndex = at === index ? 0 : -1;
    });
    this.panels.forEach((panel, at) => panel.classList.toggle("chosen", at === index));
  }

  chooseById(id: string): void {
    this.choose(this.parts.findIndex((part) => part.id === id));
  }
}
