// SPDX-License-Identifier: MIT OR Apache-2.0

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { test } from "node:test";
import { cdCommand, copiedPath, findCommand, shellWord } from "../src/command";
import { shownName, toBytes } from "../src/name";
import { share } from "../src/share";
import { size, spokenSize } from "../src/size";
import { HOSTILE, random } from "./sample";

test("sizes are those of the program", () => {
  const KI = 1n << 10n;
  const check = (bytes: bigint, expected: string) => assert.equal(size(bytes), expected);
  check(0n, "0 B");
  check(999n, "999 B");
  check(1023n, "1023 B");
  check(KI, "1.00 KiB");
  check(9_994n, "9.76 KiB");
  check(10n * KI - 6n, "9.99 KiB");
  check(10n * KI - 5n, "10.0 KiB");
  check(100n * KI - 52n, "99.9 KiB");
  check(100n * KI - 51n, "100 KiB");
  check(999_500n, "976 KiB");
  check(1_023_487n, "999 KiB");
  check(1_023_488n, "0.98 MiB");
  check(KI * KI - 1n, "1.00 MiB");
  check(2_220_950_999_236n, "2.02 TiB");
  check(2n ** 64n - 1n, "16.0 EiB");
  check(3n << 63n, "24.0 EiB");
  check(999n << 80n, "999 YiB");
  check(2n ** 128n - 1n, "281474976710656 YiB");
  assert.equal(spokenSize(2_576_980_378n), "2.40 gibibytes");
  assert.equal(size(-2048n), "−2.00 KiB");
  assert.equal(spokenSize(1n), "1 byte");
});

test("shares are those of the program", () => {
  assert.equal(share(0n, 0n), "0 %");
  assert.equal(share(1n, 201n), "<1 %");
  assert.equal(share(1n, 200n), "1 %");
  assert.equal(share(202n, 420n), "48 %");
  assert.equal(share(995n, 1000n), "100 %");
  assert.equal(share(9n, 3n), "100 %");
});

test("names are shown as the program shows them", () => {
  const check = (name: Uint8Array | string, expected: string) =>
    assert.equal(shownName(typeof name === "string" ? toBytes(name) : name), expected);
  const bytes = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));
  check("", "");
  check("plain name~.txt", "plain name~.txt");
  check("Größe, 日本語, e\u0301, 😀", "Größe, 日本語, e\u0301, 😀");
  check("\0\x01\x1b\x7f", "\\x00\\x01\\x1b\\x7f");
  check("a\nb\rc\td", "a\\nb\\rc\\td");
  check("back\\slash", "back\\\\slash");
  check("\u009b31m", "\\u{9b}31m");
  check(bytes("\x9b31m"), "\\x9b31m");
  check(bytes("caf\xe9"), "caf\\xe9");
  check(bytes("\xc0\xaf"), "\\xc0\\xaf");
  check(bytes("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  check(bytes("x\xe2\x82"), "x\\xe2\\x82");
  check("a\u202eb\u2066c\u200ed\u061c", "a\\u{202e}b\\u{2066}c\\u{200e}d\\u{61c}");
  check("\ufeffa", "\\u{feff}a");
  check("👩\u200d💻 ❤\ufe0f", "👩\\u{200d}💻 ❤\\u{fe0f}");
  check("\u{e0041}\u{10fffe}\uffff", "\\u{e0041}\\u{10fffe}\\u{ffff}");
  check("\ufffd", "\ufffd");
});

/** What bash takes a word for. */
const readBack = (word: string): Buffer =>
  spawnSync("bash", ["-c", `printf %s ${word}`], { env: { LC_ALL: "C.UTF-8" } }).stdout;

test("the shell reads the bytes of the name", { skip: !hasBash() && "skipped: needs bash" }, () => {
  const next = random(4);
  const random255 = Array.from({ length: 100 }, () => {
    const length = 1 + Math.floor(next() * 30);
    return Uint8Array.from({ length }, () => 1 + Math.floor(next() * (next() < 0.5 ? 127 : 255)));
  });
  for (const name of [...HOSTILE, ...random255, "", "~", "#x", "a=b", "x\u202ey", "été"]) {
    const path = typeof name === "string" ? toBytes(name) : name;
    const word = shellWord(path);
    assert.deepEqual(readBack(word), Buffer.from(path), word);
    assert.doesNotMatch(word, /[\0-\x1f]/, "no control character reaches a terminal");
  }
});

function hasBash(): boolean {
  try {
    execFileSync("bash", ["-c", "true"]);
    return true;
  } catch {
    return false;
  }
}

test("words are those of the program", () => {
  assert.equal(shellWord(toBytes("/a-b_c.d")), "/a-b_c.d");
  assert.equal(shellWord(toBytes("")), "''");
  assert.equal(shellWord(toBytes("a b")), "'a b'");
  assert.equal(shellWord(toBytes("$(id)")), "'$(id)'");
  assert.equal(shellWord(toBytes("é")), "'é'");
  assert.equal(shellWord(toBytes("\u00a0")), "$'\\xc2\\xa0'");
  assert.equal(shellWord(toBytes("/srv/it's\n")), "$'/srv/it\\'s\\x0a'");
  assert.equal(cdCommand(toBytes("-rf")), "cd ./-rf");
  assert.equal(findCommand(toBytes("/a b")), "statwalk find '/a b'");
  assert.equal(copiedPath(toBytes("/a b/$x é'")), "/a b/$x é'");
  assert.equal(copiedPath(toBytes("new\nline\r")), "$'new\\x0aline\\x0d'");
  assert.equal(copiedPath(toBytes("\x1b[31m")), "$'\\x1b[31m'");
  assert.equal(copiedPath(toBytes("a\u{9b}b")), "$'a\\xc2\\x9bb'");
  assert.equal(copiedPath(Uint8Array.from([0x61, 0xff])), "$'a\\xff'");
});
