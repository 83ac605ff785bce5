# SPDX-License-Identifier: MIT OR Apache-2.0
"""The trees that are scanned: made by the generator, or there already."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SEED = 1
# Counts up when the generator makes other trees from the same seed.
GENERATOR_VERSION = 1


@dataclass(frozen=True)
class Corpus:
    """A tree by name; `kind` is None where it exists without us."""

    name: str
    what: str
    kind: str | None = None
    entries: int = 0
    existing: str | None = None
    tmpfs: bool = False
    # Memory that must be free before the tree is made, in bytes.
    memory_bytes: int = 0
    rounds: int | None = None
    # What the generator is told instead of the number of entries.
    amount: str | None = None


CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus("wide", "4 directories with 100,000 to 130,000 entries each or more", "wide", 500_000),
        Corpus("flat", "one directory with everything in it", "flat", 500_000),
        Corpus("deep", "chains 400 directories deep, and binary trees", "deep", 500_000),
        Corpus("small-dirs", "80,000 directories with about nine other entries each", "small-dirs", 800_000),
        Corpus("usr", "the system's own /usr", existing="/usr"),
        Corpus("scale-100k", "mixed sizes of directories, tmpfs", "mixed", 100_000, tmpfs=True,
               memory_bytes=1 << 30, rounds=31),
        Corpus("scale-10m", "mixed sizes of directories, tmpfs", "mixed", 10_000_000, tmpfs=True,
               memory_bytes=13 << 30, rounds=6),
    )
}
# The trees of the articles: as many files and directories as their authors had.
ARTICLES = {
    corpus.name: corpus
    for corpus in (
        Corpus("music", "article 1's music folder: 3,315 files in 467 directories", "tree", 3_783, amount="3315+467"),
        Corpus("data", "article 1's data folder: 56,393 files in 7,858 directories", "tree", 64_252,
               amount="56393+7858"),
        # Their authors' folders had no links upwards, at which some of their programs would not end.
        Corpus("music-down", "music without a link to a directory", "tree-down", 3_783, amount="3315+467"),
        Corpus("data-down", "data without a link to a directory", "tree-down", 64_252, amount="56393+7858"),
        Corpus("drive", "article 1's whole drive of 26 December 2014: 554,648 files in 45,590 directories, "
               "without a link to a directory", "tree-down", 600_239, amount="554648+45590"),
        Corpus("one-file", "article 1's one directory with one file, for the accesses of a file", "flat", 2),
        Corpus("nine-thousand", "article 3's directory of 9,000 files", "flat", 9_001),
        # Its author counts both together.
        Corpus("home", "article 4's 414,615 files and directories", "tree", 414_616, amount="368410+46205"),
        Corpus("users", "article 2's about 2 million files, in 250,000 directories", "tree", 2_250_001,
               amount="2000000+250000"),
        Corpus("links", "100,000 names of 10,000 files, in 110 directories", "links", 100_000),
    )
}
STANDARD = ["wide", "flat", "deep", "small-dirs", "usr"]
SCALE = ["scale-100k", "scale-10m"]


class Unavailable(Exception):
    """The tree cannot be made here; the text says why."""


@dataclass
class Place:
    """Where a corpus is: engines are started in `cwd` and given `path`.

    The path is short and relative, so that engines which pass full paths to
    the kernel are not charged for where somebody put the trees.
    """

    cwd: str
    path: str
    mounted: Path | None = None

    def leave(self) -> None:
        """Takes away what lives in memory."""
        if self.mounted:
            subprocess.run(["umount", str(self.mounted)], check=True)
            self.mounted.rmdir()
            self.mounted = None


def prepare(corpus: Corpus, folder: Path, generator: Path) -> Place:
    """Makes the tree unless it is there already."""
    if corpus.existing:
        return Place("/", corpus.existing)
    folder.mkdir(parents=True, exist_ok=True)
    if corpus.tmpfs:
        return _prepare_tmpfs(corpus, folder, generator)
    tree, manifest = folder / corpus.name, folder / f"{corpus.name}.json"
    made_as = {"kind": corpus.kind, "entries": corpus.amount or corpus.entries, "seed": SEED,
               "generator": GENERATOR_VERSION}
    if tree.exists() and manifest.exists() and json.loads(manifest.read_text()) == made_as:
        return Place(str(folder), corpus.name)
    _need_inodes(folder, corpus.entries)
    part = folder / f"{corpus.name}.part"
    for old in (tree, part):
        if old.exists():
            print(f"removing the old {old.name} ...", flush=True)
            shutil.rmtree(old)
    generate(corpus, part, generator)
    part.rename(tree)
    manifest.write_text(json.dumps(made_as) + "\n")
    return Place(str(folder), corpus.name)


def _prepare_tmpfs(corpus: Corpus, folder: Path, generator: Path) -> Place:
    available = _memory_available()
    if available < corpus.memory_bytes:
        raise Unavailable(
            f"needs {corpus.memory_bytes >> 30} GiB of free memory, there are {available / 2**30:.1f} GiB"
        )
    if os.geteuid() != 0:
        raise Unavailable("mounting a tmpfs needs root")
    mount = folder / f"{corpus.name}.tmpfs"
    if mount.exists() and os.path.ismount(mount):
        raise Unavailable(f"{mount.name} is still mounted from an earlier run; unmount it first")
    mount.mkdir(exist_ok=True)
    # The default number of inodes is half the number of memory pages, too few for 10 million.
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"nr_inodes=0,size={corpus.memory_bytes},mode=755", "bench", str(mount)],
        check=True,
    )
    place = Place(str(mount), corpus.name, mount)
    try:
        generate(corpus, mount / corpus.name, generator)
    except BaseException:
        place.leave()
        raise
    return place


def generate(corpus: Corpus, tree: Path, generator: Path) -> None:
    """Makes a tree where there is none."""
    print(f"making {corpus.name}: {corpus.entries:,} entries ...", flush=True)
    amount = corpus.amount or str(corpus.entries)
    subprocess.run([str(generator), str(corpus.kind), amount, str(SEED), str(tree)], check=True)


def _need_inodes(folder: Path, entries: int) -> None:
    state = os.statvfs(folder)
    if 0 < state.f_files and state.f_ffree < entries:
        raise Unavailable(f"the file system has {state.f_ffree:,} inodes left")


def _memory_available() -> int:
    with open("/proc/meminfo") as meminfo:
        for line in meminfo:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0
