// SPDX-License-Identifier: MIT OR Apache-2.0

// Checks types, compares dist with a new build, and runs the tests. Words on the command line
// choose the test files whose names hold one of them.

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const words = process.argv.slice(2);

function run(program, ...parameters) {
  const { status } = spawnSync(program, parameters, { stdio: "inherit", cwd: here("..") });
  if (status !== 0) process.exit(status ?? 1);
}

run(process.execPath, here("../node_modules/typescript/bin/tsc"), "-p", here(".."));
if (words.length === 0) run(process.execPath, here("../build.mjs"), "--check");

const tests = readdirSync(here("."))
  .filter((name) => name.endsWith(".test.ts"))
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)));
const out = here("../node_modules/.tests");
rmSync(out, { recursive: true, force: true });
await build({
  entryPoints: tests.map((name) => here(name)),
  outdir: out,
  bundle: true,
  platform: "node",
  format: "esm",
  outExtension: { ".js": ".mjs" },
  packages: "external",
  sourcemap: "inline",
});
run(
  process.execPath,
  "--enable-source-maps",
  "--test",
  "--test-concurrency=1",
  "--test-reporter=spec",
  ...tests.map((name) => `${out}/${name.replace(".ts", ".mjs")}`),
);
