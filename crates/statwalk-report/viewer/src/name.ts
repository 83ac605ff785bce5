// SPDX-License-Identifier: MIT OR Apache-2.0

// The one way by which a name reaches the page, as `escape` of statwalk-view has it: each
// character that steers the text or is not seen becomes visible.

const exact = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Characters beyond ASCII that steer the text or are shown as nothing. */
const HIDDEN =
  /[\0-\x1f\x7f-\x9f\\\u{ad}\u{34f}\u{600}-\u{605}\u{61c}\u{6dd}\u{70f}\u{890}\u{891}\u{8e2}\u{115f}\u{1160}\u{3164}\u{ffa0}\u{17b4}\u{17b5}\u{180b}-\u{180f}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{fe00}-\u{fe0f}\u{feff}\u{fff0}-\u{fffb}\u{fdd0}-\u{fdef}\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|[\u{fffe}\u{ffff}\u{1fffe}\u{1ffff}\u{2fffe}\u{2ffff}\u{3fffe}\u{3ffff}\u{4fffe}\u{4ffff}\u{5fffe}\u{5ffff}\u{6fffe}\u{6ffff}\u{7fffe}\u{7ffff}\u{8fffe}\u{8ffff}\u{9fffe}\u{9ffff}\u{afffe}\u{affff}\u{bfffe}\u{bffff}\u{cfffe}\u{cffff}\u{dfffe}\u{dffff}\u{efffe}\u{effff}\u{ffffe}\u{fffff}\u{10fffe}\u{10ffff}]/gu;

/** The text of a name whose bytes are UTF-8. */
export function exactText(name: Uint8Array): string | undefined {
  try {
    return exact.decode(name);
  } catch {
    return undefined;
  }
}

/** The name as a page can show it: all of it, and none of it obeyed. */
export function shownName(name: Uint8Array): string {
  const text = exactText(name);
  if (text !== undefined) return shownText(text);
  let shown = "";
  for (let at = 0; at < name.length; ) {
    const length = sequenceLength(name, at);
    if (length === 0) {
      shown += `\\x${hex(name[at]!)}`;
      at += 1;
    } else {
      shown += shownText(exact.decode(name.subarray(at, at + length)));
      at += length;
    }
  }
  return shown;
}

export function shownText(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const point = character.codePointAt(0)!;
    if (character === "\\") return "\\\\";
    if (character === "\n") return "\\n";
    if (character === "\r") return "\\r";
    if (character === "\t") return "\\t";
    return point < 0x80 ? `\\x${hex(point)}` : `\\u{${point.toString(16)}}`;
  });
}

/** How many bytes at this place are one character; 0 where they are none. */
function sequenceLength(name: Uint8Array, at: number): number {
  const first = name[at]!;
  const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length === 0 || at + length > name.length) return 0;
  return exactText(name.subarray(at, at + length)) === undefined ? 0 : length;
}

export function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

export function toBytes(text: string): Uint8Array {
  return encoder.encode(text);
}
