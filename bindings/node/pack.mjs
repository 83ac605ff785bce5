// SPDX-License-Identifier: MIT OR Apache-2.0

// Makes the packages of npm: the library, and for each platform one with its native module, which the library has as an
// optional dependency. A checkout has none, because npm asks the registry for them.
//
//     node pack.mjs FOLDER linux-x64-gnu=statwalk.node …
//
// The packages lie in FOLDER as tarballs.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"];
// As package.json names the C library.
const LIBRARIES = { gnu: "glibc", musl: "musl" };

const [folder, ...modules] = process.argv.slice(2);
const pairs = modules.map((pair) => /^(\w+)-(\w+)-(gnu|musl)=(.+)$/.exec(pair));
if (folder === undefined || pairs.length === 0 || pairs.includes(null)) {
  console.error("usage: node pack.mjs FOLDER PLATFORM-PROCESSOR-LIBRARY=MODULE …, such as linux-x64-gnu=statwalk.node");
  process.exit(2);
}

const library = JSON.parse(fs.readFileSync(path.join(HERE, "package.json"), "utf8"));
const { version, license, engines } = library;
const work = fs.mkdtempSync(path.join(os.tmpdir(), "statwalk-pack-"));

function pack(name, description, files) {
  const place = path.join(work, name);
  fs.mkdirSync(place);
  for (const name of LICENCES) fs.copyFileSync(path.join(HERE, "../..", name), path.join(place, name));
  for (const [from, to] of files) fs.copyFileSync(from, path.join(place, to));
  const whole = { ...description, files: [...description.files, ...LICENCES] };
  fs.writeFileSync(path.join(place, "package.json"), `${JSON.stringify(whole, null, 2)}\n`);
  execFileSync("npm", ["pack", "--silent", `--pack-destination=${path.resolve(folder)}`, place], { stdio: "inherit" });
}

try {
  fs.mkdirSync(folder, { recursive: true });
  const dependencies = {};
  for (const [, platform, processor, libc, module] of pairs) {
    const name = `${platform}-${processor}-${libc}`;
    dependencies[`@statwalk/${name}`] = version;
    const description = {
      name: `@statwalk/${name}`,
      version,
      description: `The native module of statwalk for ${platform} on ${processor} with ${LIBRARIES[libc]}`,
      license,
      main: "statwalk.node",
      files: ["statwalk.node"],
      engines,
      os: [platform],
      cpu: [processor],
      libc: [LIBRARIES[libc]],
    };
    pack(name, description, [[module, "statwalk.node"]]);
  }
  const { scripts, devDependencies, ...published } = library;
  const files = library.files.map((file) => [path.join(HERE, file), file]);
  pack("library", { ...published, optionalDependencies: dependencies }, files);
} finally {
  fs.rmSync(work, { recursive: true });
}
