# SPDX-License-Identifier: MIT OR Apache-2.0
"""A file system on which every call takes its time, mounted anew for each run."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness import programs


class Unmounted(Exception):
    """The file system could not be mounted."""


@dataclass
class SlowMount:
    """One mount: where it is, and what is in it."""

    path: str
    entries: int
    allocated: int
    # Requests that reached it; known when it is gone.
    calls: int = 0


def build() -> str:
    """The program that mounts it."""
    words = ["cargo", "build", "--release", "-q", "-p", "statwalk-testkit", "--example", "slow_fs",
             "--message-format=json"]
    out = subprocess.run(words, cwd=programs.ROOT, stdout=subprocess.PIPE, check=True).stdout
    return next(m["executable"] for m in map(json.loads, out.splitlines()) if m.get("executable"))


def names(shape: tuple[int, int, int]) -> str:
    """The paths of what is mounted, one a line, as `Uniform` in crates/statwalk-testkit builds it."""
    depth, dirs_each, files_each = shape
    every: list[str] = []
    level = ["tree"]
    for left in range(depth, -1, -1):
        every += level
        every += [f"{path}/f{n:06}" for path in level for n in range(files_each)]
        level = [f"{path}/n{n}" for path in level for n in range(dirs_each if left else 0)]
    return "".join(f"{path}\n" for path in every)


@contextmanager
def slow_mount(program: str, milliseconds: tuple[int, int], shape: tuple[int, int, int],
               is_untyped: bool = False) -> Iterator[SlowMount]:
    """A fresh mount, of which nothing is remembered: every call takes between so many milliseconds, and below the
    root the tree is so deep, with so many directories and files in each directory."""
    words = [program, *map(str, milliseconds), *map(str, shape), *(["untyped"] if is_untyped else [])]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as mount:
        path, entries, allocated = (mount.stdout.readline().strip() for _ in range(3))
        if not allocated:
            raise Unmounted("the slow file system is not there: it has said why")
        found = SlowMount(path, int(entries), int(allocated))
        try:
            yield found
        finally:
            mount.stdin.close()
            found.calls = int(mount.stdout.readline() or 0)
