// SPDX-License-Identifier: MIT OR Apache-2.0

// The menu of an entry: open it, and copy its path or a command for it. Each command is
// shown before it is copied, and none of them changes anything on a disk.

import { cdCommand, copiedPath, findCommand, shellWord, whyQuoted } from "./command";
import { shownText } from "./name";
import { copyText } from "./clipboard";
import { el } from "./element";
import type { Toast } from "./toast";
import { isContainer } from "./tree";
import type { Viewer } from "./viewer";

interface Item {
  label: string;
  command?: string | undefined;
  run: () => void;
}

export class Menu {
  readonly element = el("div", { class: "menu", role: "menu", hidden: true, "aria-label": "Entry" });
  private opener: HTMLElement | undefined;

  constructor(
    private readonly viewer: Viewer,
    private readonly toast: Toast,
  ) {
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("focusout", (event) => {
      if (!this.element.contains(event.relatedTarget as Node | null)) this.close(false);
    });
    document.addEventListener("pointerdown", (event) => {
      if (!this.element.hidden && !this.element.contains(event.target as Node)) this.close(false);
    });
  }

  open(x: number, y: number, node: number, opener: HTMLElement): void {
    const items = this.items(node);
    if (items.length === 0) return;
    this.opener = opener;
    this.element.replaceChildren(...items.map(({ label, command, run }) => {
      const item = el("div", { role: "menuitem", tabindex: -1 }, el("span", {}, label));
      if (command !== undefined) item.append(el("code", { dir: "ltr" }, shownText(command)));
      item.addEventListener("click", () => {
        this.close(true);
        run();
      });
      return item;
    }));
    this.element.hidden = false;
    const { offsetWidth, offsetHeight } = this.element;
    this.element.style.left = `${Math.max(4, Math.min(x, innerWidth - offsetWidth - 4))}px`;
    this.element.style.top = `${Math.max(4, Math.min(y, innerHeight - offsetHeight - 4))}px`;
    this.focus(0);
  }

  private items(node: number): Item[] {
    const { viewer } = this;
    const items: Item[] = [];
    if (isContainer(viewer.shown, node) && node !== viewer.view) {
      items.push({ label: "Open", run: () => viewer.zoom(node) });
    }
    if (viewer.canGoOut()) items.push({ label: "Open the directory above", run: () => viewer.out() });
    const path = viewer.pathOf(node);
    const directory = viewer.directoryOf(node);
    // Redacted names lead nowhere.
    if (path === undefined || viewer.facts.is_redacted) return items;
    const copy = (label: string, text: string, copied = "Copied"): Item => ({
      label,
      command: text,
      run: () => void copyText(text).then((isDone) =>
        this.toast.say(isDone ? `${copied}: ${shownText(text)}` : "The browser did not let this page copy")),
    });
    const why = whyQuoted(path);
    items.push(why === undefined
      ? copy("Copy path", copiedPath(path))
      : copy(`Copy path, quoted: ${why}`, copiedPath(path), `Copied, quoted because ${why}`));
    if (shellWord(path) !== copiedPath(path)) items.push(copy("Copy path for a shell", shellWord(path)));
    if (directory !== undefined) items.push(copy("Copy cd command", cdCommand(directory)));
    items.push(copy("Copy find command", findCommand(path)));
    return items;
  }

  private focus(index: number): void {
    const items = this.element.querySelectorAll<HTMLElement>("[role=menuitem]");
    items[(index + items.length) % items.length]?.focus();
  }

  private key(event: KeyboardEvent): void {
    const items = [...this.element.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    switch (event.key) {
      case "ArrowDown": this.focus(at + 1); break;
      case "ArrowUp": this.focus(at - 1); break;
      case "Home": this.focus(0); break;
      case "End": this.focus(-1); break;
      case "Enter":
      case " ": items[at]?.click(); break;
      case "Escape":
      case "Tab": this.close(true); break;
      default: break;
    }
    event.stopPropagation();
    event.preventDefault();
  }

  private close(returnsFocus: boolean): void {
    if (this.element.hidden) return;
    this.element.hidden = true;
    if (returnsFocus) this.opener?.focus();
  }
}
