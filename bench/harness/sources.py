# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a walker is made of, as a hash: where it has changed since a record, its row there is of another program.

The hash is over the files that the walker is made of, without comments, and over its command line.
A file that some walkers of a folder name as their own is none of the others'.
What statwalk is made of is `crates/*/src` and `Cargo.lock`, without what no measured command runs, for its program,
and for the ways of `engines/statwalk` that folder besides. A way of `engines/bindings` is made of the folders of its
language below `bindings` as well, and of those that these call.
"""

import hashlib
import io
import os
import re
import subprocess
import tarfile
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .programs import BENCH, ROOT
from .walker import ENGINES, Walker, all_walkers

DEFINITION = "engine.toml"
PRODUCT_WAYS = ("program/statwalk", "program/statwalk-find")
# Folders of what is built and installed.
MADE = {"target", "node_modules"}
# Where comments begin with `//`; in the other languages of the folders they begin with `#`.
SLASHES = {".c", ".h", ".cpp", ".hpp", ".cs", ".java", ".groovy", ".go", ".rs", ".js", ".mjs", ".mod"}

# What begins after a scan, and in no command that is measured: the browser, removal, the report, and its first look.
UNMEASURED = tuple(f"crates/{name}/" for name in (
    "statwalk-browse", "statwalk-first-programs", "statwalk-remove", "statwalk-report", "statwalk-testkit",
    "statwalk/src/browse", "statwalk/src/report", "statwalk/src/rebuildable", "statwalk/src/commands/completions",
)) + tuple(f"crates/statwalk/src/commands/{name}.rs" for name in ("browse", "man", "printed_twice", "report"))

LOCK = "Cargo.lock"

# What a binding calls; all call `bindings/stream`.
CALLED = {"java": ("c",)}

# The files of each folder of `engines`, by path in it.
Folders = dict[str, dict[str, bytes]]


def now() -> dict[str, str]:
    """The hash of every walker and of statwalk as they stand."""
    found: Folders = {}
    for folder in {walker.folder for walker in all_walkers()}:
        files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        found[folder.name] = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    paths = [ROOT / LOCK, *ROOT.glob("crates/*/src/**/*"), *_below(ROOT / "bindings")]
    named = {str(path.relative_to(ROOT)): path for path in paths}
    product = {name: _product(name, path.read_bytes())
               for name, path in named.items() if is_product(name) and path.is_file()}
    bindings = {name: path.read_bytes() for name, path in named.items() if is_binding(name) and path.is_file()}
    return _hashes(found, product, bindings)


def _below(folder: Path) -> list[Path]:
    """All files below a folder, without those that are made: there are trees among them that are deep."""
    found: list[Path] = []
    for above, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in MADE]
        found += [Path(above, name) for name in names]
    return found


@cache
def at(commit: str) -> dict[str, str]:
    """The hash of every walker and of statwalk of a commit that git knows; none of one that it does not."""
    place = str(ENGINES.relative_to(ROOT))
    knows = subprocess.run(["git", "cat-file", "-e", f"{commit}:bindings"], cwd=ROOT, stderr=subprocess.DEVNULL)
    bound = ["bindings"] if knows.returncode == 0 else []
    done = subprocess.run(["git", "archive", "--format=tar", commit, place, "crates", LOCK, *bound], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        return {}
    found: Folders = {}
    product: dict[str, bytes] = {}
    bindings: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in archive.getmembers():
            if not member.isfile():
                continue
            content = archive.extractfile(member)
            assert content
            if is_product(member.name):
                product[member.name] = _product(member.name, content.read())
            elif is_binding(member.name):
                bindings[member.name] = content.read()
            elif member.name.startswith(f"{place}/"):
                folder, _, name = member.name.removeprefix(f"{place}/").partition("/")
                if name:
                    found.setdefault(folder, {})[name] = content.read()
    return _hashes(found, product, bindings)


def is_binding(path: str) -> bool:
    """Whether a file decides what a binding does: a source or a header, and no test."""
    parts = path.split("/")
    is_source = Path(path).suffix in {".rs", ".h", ".py", ".js", ".java"}
    is_aside = ({"test", "tests", "examples"} | MADE).intersection(parts)
    return parts[0] == "bindings" and is_source and not is_aside


def is_product(path: str) -> bool:
    """Whether a file decides what a measured command does: no test does."""
    parts = path.split("/")
    is_source = parts[0] == "crates" and parts[2:3] == ["src"]
    return path == LOCK or (is_source and not path.endswith("_tests.rs") and not path.startswith(UNMEASURED))


def _product(path: str, content: bytes) -> bytes:
    return locked(content) if path == LOCK else content


def locked(lock: bytes) -> bytes:
    """The packages that a measured command is made of: those that only others need can change."""
    packages: dict[str, list[dict]] = {}
    for package in tomllib.loads(lock.decode())["package"]:
        packages.setdefault(package["name"], []).append(package)
    unmeasured = {place.split("/")[1] for place in UNMEASURED if place.count("/") == 2}
    found: dict[tuple[str, str], str] = {}
    waiting = ["statwalk", "statwalk-core"]
    while waiting:
        # With a version behind the name where there are several.
        name, _, version = waiting.pop().partition(" ")
        for package in packages[name]:
            key = (name, package["version"])
            if name not in unmeasured and key not in found and package["version"].startswith(version):
                found[key] = package.get("checksum", "")
                waiting += package.get("dependencies", [])
    return "".join(f"{name} {version} {checksum}\n" for (name, version), checksum in sorted(found.items())).encode()


def of_sitting(sitting: dict) -> dict[str, str]:
    """The hashes of a sitting; of what it has none, those of its commit."""
    return at(sitting["conditions"]["statwalk commit"].split(",")[0]) | sitting.get("sources", {})


def changed(case: dict, sittings: list[dict], present: dict[str, str]) -> set[str]:
    """The ways of a case that are known to have been another program when they were measured."""
    found = set()
    for result in case["results"]:
        then = of_sitting(sittings[result.get("sitting", case.get("sitting", 0))])
        name = result["name"]
        if name in then and name in present and then[name] != present[name]:
            found.add(name)
    return found


def without_comments(name: str, content: bytes) -> bytes:
    """The lines of a source that a compiler sees; comments behind code stay."""
    text = content.decode(errors="surrogateescape")
    if Path(name).suffix in SLASHES:
        text = re.sub(r"^[ \t]*/\*.*?\*/[ \t]*$", "", text, flags=re.S | re.M)
        mark = "//"
    else:
        mark = "#"
    lines = (line.rstrip() for line in text.split("\n"))
    kept = (line for line in lines if line and not line.lstrip().startswith(mark))
    return "\n".join(kept).encode(errors="surrogateescape")


def _hashes(folders: Folders, product: dict[str, bytes], bindings: dict[str, bytes] | None = None) -> dict[str, str]:
    """The hashes of the walkers that are defined now, of files that may be older."""
    present = all_walkers()
    found = {name: _product_hash(product) for name in PRODUCT_WAYS if product}
    for name, files in folders.items():
        if DEFINITION not in files:
            continue
        here = [walker for walker in present if walker.folder.name == name]
        made_of = files | (product if name in ("statwalk", "bindings") else {})
        for entry in tomllib.loads(files[DEFINITION].decode())["engine"]:
            walker = next((walker for walker in here if walker.name == entry["name"]), None)
            if walker:
                bound = _bound(walker.name, bindings or {}) if name == "bindings" else {}
                found[walker.name] = _hash(walker, entry, here, made_of | bound)
    return found


def _bound(way: str, bindings: dict[str, bytes]) -> dict[str, bytes]:
    """The files of bindings that a way runs, such as `statwalk-java/walk`."""
    language = way.removeprefix("statwalk-").partition("/")[0]
    folders = {"stream", language, *CALLED.get(language, ())}
    return {name: content for name, content in bindings.items() if name.split("/")[1] in folders}


def _product_hash(product: dict[str, bytes]) -> str:
    state = hashlib.sha256()
    for name in sorted(product):
        state.update(f"\0{name}\0".encode() + without_comments(name, product[name]))
    return state.hexdigest()[:16]


def _hash(walker: Walker, entry: dict, folder: Iterable[Walker], files: dict[str, bytes]) -> str:
    others = {name for other in folder for name in other.own} - set(walker.own)
    state = hashlib.sha256(repr((entry["run"], sorted(entry.get("environment", {}).items()))).encode())
    for name in sorted(set(files) - others - set(walker.chooses) - {DEFINITION}):
        state.update(f"\0{name}\0".encode() + without_comments(name, files[name]))
    return state.hexdigest()[:16]


def misplaced() -> list[str]:
    """Files that a definition names and that are not there."""
    return [f"{walker.name}: {BENCH.name}/engines/{walker.folder.name}/{name}"
            for walker in all_walkers() for name in [*walker.own, *walker.chooses]
            if not (walker.folder / name).is_file()]
