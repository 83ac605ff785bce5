// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads a page as a person does: every text with a number, by the place where it stands. What
// has a number and no place here is left over, so that no new number goes unread.

import type { Page } from "playwright-core";

export interface RowRead {
  level: number;
  label: string;
  badges: string[];
  isExpanded: string | null;
  isFaded: boolean;
  position: string;
  of: string;
  disk: string;
  share: string;
  apparent: string;
  entries: string;
  newest: string;
  owner: string;
  spoken: string;
}

export interface TableRead {
  caption: string;
  head: string[];
  rows: string[][];
}

export interface PageRead {
  figures: { value: string; name: string; title: string }[];
  why: string[];
  gist: string;
  crumbs: string[];
  found: string;
  rows: RowRead[];
  rowCount: number;
  legend: { label: string; bytes: string; isPressed: boolean }[];
  several: string | undefined;
  free: string | undefined;
  selection: { name: string; pairs: [string, string][]; below: string[]; remarks: string[] };
  matches: { label: string; where: string; bytes: string; isChosen: boolean }[];
  matchHead: string;
  tabs: string[];
  panels: Record<string, TableRead[]>;
  worth: { mark: string; kind: string; text: string; bytes: string; note: string }[];
  worthHeads: string[];
  map: string;
  cells: string[];
  footer: string;
  help: string;
  leftOver: string[];
}

export function read(page: Page): Promise<PageRead> {
  return page.evaluate(() => {
    const seen = new Set<Element>();
    const all = (selector: string, from: ParentNode = document) => [...from.querySelectorAll<HTMLElement>(selector)];
    const text = (element: Element | null | undefined): string => {
      if (element == null) return "";
      seen.add(element);
      return element.textContent ?? "";
    };
    const one = (selector: string, from: ParentNode = document) => text(from.querySelector(selector));
    const own = (element: Element) => [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent).join("");
    const figures = all(".figure").map((figure) => {
      seen.add(figure);
      return { value: one("dd", figure), name: one("dt", figure), title: figure.title };
    });
    // The time, the command and the host are told by other tests.
    all(".sub, .crumbs .up").forEach(text);
    const rows = all(".body .row").filter((row) => row.dataset.index !== undefined).map((row) => {
      seen.add(row);
      return {
        level: Number(row.getAttribute("aria-level")), label: one(".c-name .name", row), badges: all(".badge, .c-name .mark", row).map(text),
        isExpanded: row.getAttribute("aria-expanded"), isFaded: row.classList.contains("faded"),
        position: row.getAttribute("aria-posinset") ?? "", of: row.getAttribute("aria-setsize") ?? "",
        disk: one(".c-disk", row), share: one(".c-share", row), apparent: one(".c-apparent", row), entries: one(".c-entries", row),
        newest: one(".c-newest", row), owner: one(".c-owner", row), spoken: row.getAttribute("aria-label") ?? "",
      };
    });
    all(".body .row.rest").forEach(text);
    const legend = all(".legend .entry").map((chip) => {
      seen.add(chip);
      return { label: one(".name", chip), bytes: one(".bytes", chip), isPressed: chip.getAttribute("aria-pressed") === "true" };
    });
    const several = document.querySelector(".legend .more:not([hidden]) .bytes");
    const facts = document.querySelector(".selection .facts")!;
    const selection: { name: string; pairs: [string, string][]; below: string[]; remarks: string[] } = { name: one("strong", facts), pairs: [], below: [], remarks: all(".remark", facts).map(text) };
    for (const pair of all(".pair", facts)) {
      const name = pair.querySelector(".key");
      if (name === null) selection.below.push(text(pair));
      else selection.pairs.push([text(name).trim(), text(pair).slice(name.textContent!.length)]);
    }
    const panels: Record<string, { caption: string; head: string[]; rows: string[][] }[]> = {};
    for (const panel of all(".panel")) {
      panels[panel.id.replace("panel-", "")] = all("table", panel).map((table) => ({
        caption: one("caption", table), head: all("thead th, thead td", table).map(text), rows: all("tbody tr", table).map((row) => all("td, th", row).map(text)),
      }));
    }
    const worth = all(".worth li").map((item) => ({
      mark: one(".mark", item), kind: one(".kind", item), text: one(".path", item), bytes: one(".number", item), note: one(".note", item),
    }));
    const matches = all(".matches [role=option]").map((item) => {
      seen.add(item);
      return { label: one(".name", item), where: one(".where", item), bytes: one(".number", item), isChosen: item.getAttribute("aria-selected") === "true" };
    });
    const cells = all("#map [role=option]").map(text);
    const map = document.querySelector("#map")!;
    seen.add(map);
    const made = {
      figures, why: all(".why").map(text), gist: one(".gist"), crumbs: all(".crumbs li").map(text), found: one("#found"), rows,
      rowCount: Number(document.querySelector("#tree")!.getAttribute("aria-rowcount")) - 1,
      legend, several: several === null ? undefined : text(several), free: all(".legend .check").map(text)[0], selection, matches,
      matchHead: one(".matches-head"), tabs: all("[role=tab]").map(text), panels, worth, worthHeads: all(".worth-head").map(text),
      map: map.getAttribute("aria-label") ?? "", cells, footer: one("footer"), help: one(".help-dialog"), leftOver: [] as string[],
    };
    const isSeen = (element: Element | null): boolean => element !== null && (seen.has(element) || isSeen(element.parentElement));
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode() as Element | null; node !== null; node = walker.nextNode() as Element | null) {
      if (["SCRIPT", "STYLE", "NOSCRIPT"].includes(node.tagName) || node.closest(".name, .menu, .toast, select, [hidden]") !== null) continue;
      if (isSeen(node)) continue;
      const texts = [own(node), node.getAttribute("title") ?? "", node.getAttribute("aria-label") ?? "", node.getAttribute("placeholder") ?? ""];
      for (const left of texts) if (/\d/.test(left) && !/^Group by .* \(\d\)$/.test(left)) made.leftOver.push(`${node.tagName}.${node.className}: ${left}`);
    }
    return made;
  });
}

/** Selects the rows at these places one after another, and reads what the page says of each. */
export function select(page: Page, places: number[]): Promise<Map<string, string>[]> {
  return page.evaluate((places) => places.map((at) => {
    document.querySelectorAll<HTMLElement>(".body .row")[at]!.click();
    return [...document.querySelectorAll(".selection .pair")].flatMap((pair): [string, string][] => {
      const name = pair.querySelector(".key")?.textContent;
      return name == null ? [] : [[name.trim(), pair.textContent!.slice(name.length)]];
    });
  }), places).then((all) => all.map((pairs) => new Map(pairs)));
}

/** What the pointer learns over the map: the tooltip of every cell that it can hit. */
export function hover(page: Page, step: number): Promise<{ name: string; of: string; pairs: [string, string][] }[]> {
  return page.evaluate((step) => {
    const map = document.querySelector("#map")!;
    const { left, top, right, bottom } = map.getBoundingClientRect();
    const tooltip = document.querySelector<HTMLElement>(".tooltip")!;
    const found: { name: string; of: string; pairs: [string, string][] }[] = [];
    let last: Element | null = null;
    const known = new Set<string>();
    for (let y = top + step / 2; y < bottom; y += step) {
      for (let x = left + step / 2; x < right; x += step) {
        map.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y, pointerType: "mouse", bubbles: true }));
        const first = tooltip.firstElementChild;
        if (first === last) continue;
        last = first;
        if (known.has(tooltip.textContent!)) continue;
        known.add(tooltip.textContent!);
        const terms = [...tooltip.querySelectorAll("dt")].map((dt): [string, string] => [dt.textContent!, dt.nextElementSibling!.textContent!]);
        found.push({ name: tooltip.querySelector("strong")!.textContent!, of: tooltip.querySelector(".of")?.textContent ?? "", pairs: terms });
      }
    }
    map.dispatchEvent(new PointerEvent("pointerleave"));
    return found;
  }, step);
}
