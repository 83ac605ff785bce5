// SPDX-License-Identifier: MIT OR Apache-2.0

// Paths and commands to be pasted into a shell. None of them changes or deletes anything.

import { exactText, hex, shownText } from "./name";

/** A name as one word that the shell reads as exactly these bytes (shell_word.rs). */
export function shellWord(name: Uint8Array): string {
  const text = exactText(name);
  if (text !== undefined) {
    if (/^[A-Za-z0-9/._\-+@%:,]+$/.test(text)) return text;
    if (shownText(text) === text && !/['\u{a0}]/u.test(text)) return `'${text}'`;
  }
  let word = "$'";
  for (const byte of name) {
    if (byte === 0x27 || byte === 0x5c) word += `\\${String.fromCharCode(byte)}`;
    else if (byte >= 0x20 && byte <= 0x7e) word += String.fromCharCode(byte);
    else word += `\\x${hex(byte)}`;
  }
  return `${word}'`;
}

/** A path that no command takes for an option. */
function asOperand(path: Uint8Array): Uint8Array {
  return path[0] === 0x2f ? path : Uint8Array.from([0x2e, 0x2f, ...path]);
}

/**
 * The path as text. A word of the shell stands for bytes that are no text, and for control
 * characters: a shell would take what follows a pasted line end for a command.
 */
export function copiedPath(path: Uint8Array): string {
  return whyQuoted(path) === undefined ? exactText(path)! : shellWord(path);
}

/** Why a copied path is a word of the shell; undefined where it is the path itself. */
export function whyQuoted(path: Uint8Array): string | undefined {
  const text = exactText(path);
  if (text === undefined) return "it is not UTF-8";
  return /\p{Cc}/u.test(text) ? "it has control characters" : undefined;
}

export function cdCommand(directory: Uint8Array): string {
  return `cd ${shellWord(asOperand(directory))}`;
}

export function findCommand(path: Uint8Array): string {
  return `statwalk find ${shellWord(asOperand(path))}`;
}

export function wordsOf(options: Uint8Array[]): string {
  return options.map(shellWord).join(" ");
}
