// SPDX-License-Identifier: MIT OR Apache-2.0

// Text to the clipboard, letter by letter.

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByEvent(text);
  }
}

/** For pages that have no clipboard. A field to copy from would change line ends. */
function copyByEvent(text: string): boolean {
  let isDone = false;
  const listener = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    isDone = true;
  };
  document.addEventListener("copy", listener);
  try {
    document.execCommand("copy");
  } finally {
    document.removeEventListener("copy", listener);
  }
  return isDone;
}
