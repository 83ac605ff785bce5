// SPDX-License-Identifier: MIT OR Apache-2.0

// The view in the fragment of the page's address: `#path=/lib&by=category&colour=age`.
// A path has the names below the root, each byte that is no letter as `%xx`.

import { COLOURS, type Colour } from "./colouring";
import { GROUPINGS, type Grouping } from "./grouping";
import { hex } from "./name";
import type { Measure } from "./tree";

export interface Address {
  /** Names from the root of the scan to the directory in view. */
  path: Uint8Array[];
  by: Grouping;
  /** Names from the root of the grouping to the view in it. */
  inside: Uint8Array[];
  colour: Colour;
  measure: Measure;
}

export function written(address: Address, usual: Measure): string {
  const parts = [`path=${address.path.map((name) => `/${escaped(name)}`).join("") || "/"}`];
  if (address.by !== "tree") parts.push(`by=${address.by}`);
  if (address.inside.length > 0) parts.push(`in=${address.inside.map(escaped).join("/")}`);
  if (address.colour !== "category") parts.push(`colour=${address.colour}`);
  if (address.measure !== usual) parts.push(`size=${address.measure}`);
  return `#${parts.join("&")}`;
}

export function read(fragment: string, usual: Measure): Address {
  const values = new Map<string, string>();
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at > 0) values.set(part.slice(0, at), part.slice(at + 1));
  }
  const names = (key: string) =>
    (values.get(key) ?? "").split("/").filter((name) => name !== "").map(unescaped);
  const one = <T extends string>(key: string, all: readonly T[], usual: T): T =>
    all.find((value) => value === values.get(key)) ?? usual;
  return {
    path: names("path"),
    by: one("by", GROUPINGS, "tree"),
    inside: names("in"),
    colour: one("colour", COLOURS, "category"),
    measure: one("size", ["allocated", "apparent"] as const, usual),
  };
}

function escaped(name: Uint8Array): string {
  return Array.from(name, (byte) => {
    const letter = String.fromCharCode(byte);
    return /[A-Za-z0-9._~-]/.test(letter) ? letter : `%${hex(byte).toUpperCase()}`;
  }).join("");
}

function unescaped(text: string): Uint8Array {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = /^%[0-9A-Fa-f]{2}/.test(text.slice(at, at + 3));
    if (code) {
      bytes.push(Number.parseInt(text.slice(at + 1, at + 3), 16));
      at += 2;
    } else {
      bytes.push(text.charCodeAt(at) & 255);
    }
  }
  return Uint8Array.from(bytes);
}
