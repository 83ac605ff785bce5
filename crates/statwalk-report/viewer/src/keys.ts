// SPDX-License-Identifier: MIT OR Apache-2.0

// The keys that work wherever the focus is, but in a field. The tree and the map have their
// own beside them.

import { GROUPINGS } from "./grouping";
import type { Viewer } from "./viewer";

export interface KeyTargets {
  search: HTMLInputElement;
  help: HTMLDialogElement;
  menu: () => void;
}

export function listenForKeys(viewer: Viewer, { search, help, menu }: KeyTargets): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const target = event.target as HTMLElement;
    if (target.closest("input:not([type=checkbox]), select, textarea") !== null) return;
    switch (event.key) {
      case "c": viewer.nextColour(); break;
      case "/":
        search.focus();
        search.select();
        break;
      case "?": help.showModal(); break;
      case "m": menu(); break;
      case "Backspace": viewer.out(); break;
      case "Escape":
        if (!viewer.filter.isEmpty()) viewer.clearFilter();
        else if (viewer.kept !== undefined) viewer.unkeep();
        else return;
        break;
      default: {
        const grouping = GROUPINGS[Number(event.key) - 1];
        if (grouping === undefined) return;
        viewer.regroup(grouping);
      }
    }
    event.preventDefault();
  });
}
