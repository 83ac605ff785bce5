# SPDX-License-Identifier: MIT OR Apache-2.0
"""The right answers for the programs of `engines/`, from GNU find and a walk of our own in Python.

Each value of `counts` in `engines/README.md` is a function here.
"""

import math
import os
import stat
import subprocess
from dataclasses import dataclass
from functools import cached_property


class Unjudged(Exception):
    """What this way of counting would give on this tree is not known; the text says why."""


@dataclass(frozen=True)
class Count:
    """What an engine prints for a round."""

    files: int
    dirs: int
    bytes: int
    mtime_s: int = 0

    def printed(self, model: str) -> tuple[int, ...]:
        """As the line of a model holds it."""
        size = 0 if model == "count" else self.bytes
        if model == "records":
            return (self.files, self.dirs, size, wrapped(self.mtime_s))
        return (self.files, self.dirs, size)


def wrapped(number: int) -> int:
    """A sum as 64 bits with a sign hold it."""
    return (number + 2**63) % 2**64 - 2**63


@dataclass
class Link:
    """A symbolic link and what it leads to, if to anything."""

    path: bytes
    mtime_s: int
    target: os.stat_result | None

    @property
    def leads_to_file(self) -> bool:
        """Whether the target is a regular file."""
        return self.target is not None and stat.S_ISREG(self.target.st_mode)


class Tree:
    """A tree and its right answers, each found when it is first asked for."""

    def __init__(self, path: str, only_top: bool = False):
        self.path = path
        self.depth = ["-maxdepth", "1"] if only_top else []
        self.only_top = only_top

    @cached_property
    def names(self) -> Count:
        """Every name below the root, links as themselves."""
        files = dirs = size = mtime = 0
        with self._find(["-printf", "%y %s %T@\n"]) as process:
            for line in process.stdout:
                kind, length, time = line.split()
                mtime += _whole_seconds(time)
                if kind == b"d":
                    dirs += 1
                else:
                    files += 1
                    size += int(length) if kind == b"f" else 0
        return Count(files, dirs, size, mtime)

    @cached_property
    def links(self) -> list[Link]:
        """All symbolic links."""
        with self._find(["-type", "l", "-printf", "%T@ %p\\0"]) as process:
            found = process.stdout.read().split(b"\0")
        links = []
        for line in filter(None, found):
            time, _, path = line.partition(b" ")
            try:
                target = os.stat(path)
            except OSError:
                target = None
            links.append(Link(path, _whole_seconds(time), target))
        return links

    @cached_property
    def leads_upwards(self) -> bool:
        """Whether a link leads to a directory that holds it."""
        return any(_holds(link) for link in self.links if link.target and stat.S_ISDIR(link.target.st_mode))

    def count(self, counts: str) -> Count:
        """What an engine that counts in this way must print."""
        names, links = self.names, self.links if counts != "names" else []
        file_targets = sum(link.target.st_size for link in links if link.leads_to_file)
        broken = [link for link in links if link.target is None]
        match counts:
            case "names":
                return names
            case "follow-files":
                return Count(names.files, names.dirs, names.bytes + file_targets, names.mtime_s)
            case "follow-all":
                targets = sum(link.target.st_size for link in links if link.target)
                return Count(names.files, names.dirs, names.bytes + targets, names.mtime_s)
            case "skip-links":
                mtime = names.mtime_s - sum(link.mtime_s for link in links)
                return Count(names.files - len(links), names.dirs, names.bytes, mtime)
            case "skip-broken-links":
                mtime = names.mtime_s - sum(link.mtime_s for link in broken)
                return Count(names.files - len(broken), names.dirs, names.bytes + file_targets, mtime)
            case "targets":
                mtime = names.mtime_s - sum(link.mtime_s for link in links)
                mtime += sum(math.floor(link.target.st_mtime_ns / 10**9) for link in links if link.target)
                return Count(names.files - len(broken), names.dirs, names.bytes + file_targets, mtime)
            case "untyped":
                return Count(names.files + names.dirs, 0, 0)
            case "follow" | "follow-directories":
                return self._followed(files_too=counts == "follow")
        raise Unjudged(f"nobody knows what `{counts}` counts")

    def _followed(self, files_too: bool) -> Count:
        """Enters links to directories, but none that holds it by the names that led there."""
        if self.only_top:
            raise Unjudged("what is followed is not judged in a single directory")
        limit = 20 * (self.names.files + self.names.dirs) + 1000
        files = dirs = size = seen = 0
        pending = [(os.fsencode(self.path), (_identity(os.stat(self.path)),))]
        while pending:
            path, way = pending.pop()
            with os.scandir(path) as entries:
                for entry in entries:
                    seen += 1
                    if seen > limit:
                        raise Unjudged("links to directories make this tree twenty times as large")
                    own = entry.stat(follow_symlinks=False)
                    is_link = stat.S_ISLNK(own.st_mode)
                    try:
                        found = os.stat(entry.path) if is_link else own
                    except OSError:
                        found = None
                    if found and stat.S_ISDIR(found.st_mode):
                        if _identity(found) in way:
                            continue
                        dirs += 1
                        pending.append((entry.path, (*way, _identity(found))))
                    else:
                        files += 1
                        if found and stat.S_ISREG(found.st_mode) and (files_too or not is_link):
                            size += found.st_size
        return Count(files, dirs, size)

    def _find(self, expression: list[str]) -> subprocess.Popen:
        command = ["find", self.path, "-mindepth", "1", *self.depth, *expression]
        return subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=1 << 20)


def _holds(link: Link) -> bool:
    target, place = os.path.realpath(link.path), os.path.realpath(os.path.dirname(link.path))
    return (place + b"/").startswith(target.rstrip(b"/") + b"/")


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _whole_seconds(text: bytes) -> int:
    """Rounded down, also before 1970: find prints 1.5 s before it as -2.5."""
    return int(text.partition(b".")[0])
