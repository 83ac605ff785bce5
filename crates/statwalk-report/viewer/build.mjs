// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds dist/viewer.js and dist/viewer.css, or with `--check` compares them with a new build.

import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** What the page may weigh, compressed: issue and design say 60 kB. */
const BYTES_MAX = 60_000;

async function built() {
  const result = await build({
    entryPoints: { viewer: here("src/main.ts") },
    outdir: here("dist"),
    bundle: true,
    write: false,
    minify: true,
    charset: "utf8",
    format: "iife",
    // The browsers that have `DecompressionStream("deflate-raw")`.
    target: ["chrome103", "firefox113", "safari16.4"],
    legalComments: "none",
  });
  const style = await build({
    entryPoints: { viewer: here("style.css") },
    outdir: here("dist"),
    write: false,
    minify: true,
    charset: "utf8",
    target: ["chrome103", "firefox113", "safari16.4"],
  });
  return [...result.outputFiles, ...style.outputFiles].map((file) => ({
    name: file.path.endsWith(".js") ? "dist/viewer.js" : "dist/viewer.css",
    text: file.text,
  }));
}

const files = await built();
const bytes = files.reduce((sum, file) => sum + gzipSync(file.text, { level: 9 }).length, 0);
for (const { name, text } of files) {
  // It would end the element that holds it.
  if (/<\/(script|style)/i.test(text)) throw new Error(`${name} holds the end of its element`);
  if (process.argv.includes("--check")) {
    let committed = "";
    try {
      committed = readFileSync(here(name), "utf8");
    } catch {}
    if (committed !== text) {
      console.error(`${name} is not what src makes: run npm run build`);
      process.exitCode = 1;
    }
  } else {
    mkdirSync(here("dist"), { recursive: true });
    writeFileSync(here(name), text);
  }
}
console.log(`viewer: ${bytes} bytes compressed`);
if (bytes > BYTES_MAX) {
  console.error(`more than ${BYTES_MAX} bytes compressed`);
  process.exitCode = 1;
}
