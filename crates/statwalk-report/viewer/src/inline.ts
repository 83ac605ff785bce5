// SPDX-License-Identifier: MIT OR Apache-2.0

// Data in script elements of the page. A page opened from a disk may fetch nothing, so its
// data must be in it.

import { parseFacts, type Facts } from "./facts";
import type { Provider } from "./provider";

export class InlineProvider implements Provider {
  constructor(private readonly page: Document) {}

  async facts(): Promise<Facts> {
    return parseFacts(this.text("statwalk-meta"));
  }

  async block(index: number): Promise<ArrayBuffer> {
    const pieces = this.text(`statwalk-block-${index}`).split("\n").filter((piece) => piece !== "");
    return new Blob(await Promise.all(pieces.map((piece) => inflate(fromBase64(piece))))).arrayBuffer();
  }

  private text(id: string): string {
    const text = this.page.getElementById(id)?.textContent;
    if (text == null) throw new Error(`the file is cut off: it has no ${id}`);
    return text;
  }
}

/** What browsers of 2025 and later do by themselves, many times as fast (ECMAScript 2026). */
interface Native {
  fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as Native).fromBase64;
  if (native !== undefined) return native.call(Uint8Array, text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(plain).arrayBuffer();
}
