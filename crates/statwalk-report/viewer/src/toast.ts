// SPDX-License-Identifier: MIT OR Apache-2.0

// A line that says what was done, and goes.

import { el } from "./element";

const SHOWN_MS = 4000;

export class Toast {
  readonly element = el("div", { class: "toast", role: "status" });
  private timer = 0;

  say(text: string): void {
    this.element.textContent = text.length > 200 ? `${text.slice(0, 199)}…` : text;
    this.element.classList.add("shown");
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.element.classList.remove("shown"), SHOWN_MS);
  }
}
