// SPDX-License-Identifier: MIT OR Apache-2.0

// Puts the parts of the page together.

import { crumbs, filterLine, footer, header, helpDialog, legend, selectionLine, Tools } from "./chrome";
import { divider } from "./divider";
import { el } from "./element";
import { listenForKeys } from "./keys";
import { MapView } from "./map";
import { Matches } from "./matches";
import { Menu } from "./menu";
import { panelsOf } from "./panels";
import type { Provider } from "./provider";
import { Table } from "./table";
import { Tabs } from "./tabs";
import { Toast } from "./toast";
import { Tooltip } from "./tooltip";
import { BlockTree } from "./tree";
import { Viewer } from "./viewer";

/** Shows a report in an element. */
export async function show(provider: Provider, root: HTMLElement): Promise<Viewer> {
  performance.mark("statwalk-start");
  const [facts, tree] = await Promise.all([provider.facts(), BlockTree.from(provider)]);
  performance.mark("statwalk-read");
  const viewer = new Viewer(tree, facts);
  const toast = new Toast();
  const tooltip = new Tooltip(viewer);
  const menu = new Menu(viewer, toast);
  const map = new MapView(viewer, tooltip, menu);
  const table = new Table(viewer, menu);
  const tabs: Tabs = new Tabs(panelsOf(viewer, toast, table.element, (id) => tabs.chooseById(id)));
  const help = helpDialog(viewer);
  const tools = new Tools(viewer, help);
  const matches = new Matches(viewer, tools.search);
  const side = el("div", { class: "side" }, filterLine(viewer), matches.element, tabs.list,
    el("div", { class: "panels" }, tabs.panels[0], el("div", { class: "others" }, ...tabs.panels.slice(1))));
  const main = el("main", {}, side);
  main.append(divider(main, side),
    el("div", { class: "picture" }, map.element, legend(viewer), selectionLine(viewer, menu)));
  const page = el("div", { class: "page" },
    header(viewer),
    el("div", { class: "bar-line" }, crumbs(viewer), tools.element),
    main,
    footer(viewer));
  root.append(page, tooltip.element, menu.element, toast.element, help);
  listenForKeys(viewer, {
    search: tools.search,
    help,
    menu: () => {
      const isInTree = document.activeElement === table.grid;
      const { x, y } = isInTree ? table.placeOfSelection() : map.placeOfSelection();
      menu.open(x, y, viewer.selection.node, isInTree ? table.grid : map.focus);
    },
  });
  window.addEventListener("popstate", () => void viewer.follow());
  await viewer.follow();
  return viewer;
}
