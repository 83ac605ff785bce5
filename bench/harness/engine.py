# SPDX-License-Identifier: MIT OR Apache-2.0
"""The engines: their command lines, how their answers are read, and what is right for each."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .oracle import Answer
from .programs import CC_FLAGS, find_program

# Stand for the corpus and for an empty directory in command lines.
PATH, EMPTY = "PATH", "EMPTY"

TOTALS, COUNT = "totals", "count"
QUESTIONS = (TOTALS, COUNT)


class Wrong(Exception):
    """The output has another form than the engine's reader expects."""


@dataclass
class Variant:
    """One way to call an engine; the fastest right one is compared."""

    arguments: list[str]
    # Reads the answer as named numbers from stdout; None when there is none to read.
    read: Callable[[bytes], dict[str, int]] | None
    # The same names with the right numbers.
    expect: Callable[[Answer], dict[str, int]] | None
    # For answers that the timed command does not print: other arguments whose
    # output is read once, untimed.
    check_arguments: list[str] | None = None


@dataclass
class Engine:
    """A program and what it is asked."""

    name: str
    question: str
    program: str
    variants: list[Variant]
    version: list[str]
    # What a reader must know to judge the comparison.
    remark: str = ""
    binary: str | None = None
    # Runs on the corpora of the growth question, where memory is short.
    scales: bool = False
    # Called so where its calls are counted, because strace slows calls down and
    # it would answer that with more threads.
    counted: Variant | None = None

    def command(self, variant: Variant, path: str, empty: str, check: bool = False) -> list[str]:
        """The command line for a tree."""
        arguments = variant.check_arguments if check and variant.check_arguments else variant.arguments
        places = {PATH: path, EMPTY: empty}
        return [str(self.binary), *(places.get(a, a) for a in arguments)]

    def shown(self, variant: Variant) -> str:
        """The command line for the record."""
        return " ".join([self.program, *variant.arguments])

    def version_text(self) -> str:
        """What the program says of itself."""
        if not self.version:
            return ""
        done = subprocess.run(
            [a if a != "BINARY" else str(self.binary) for a in self.version],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        # Terminal colours are of no use in a record.
        text = re.sub(rb"\x1b\[[0-9;]*m", b"", done.stdout).decode(errors="replace").strip()
        line = re.sub(r"\s+", " ", text.splitlines()[0]) if text else "unknown"
        return line.removeprefix("Version: ")


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


def thread_counts() -> list[int]:
    """What is tried beside the default: as many as processors, and twice that."""
    return [processors(), 2 * processors()]


# --- readers ---------------------------------------------------------------

def _first_number(out: bytes) -> dict[str, int]:
    found = re.match(rb"\s*(\d+)", out)
    if not found:
        raise Wrong("no number at the beginning")
    return {"allocated_bytes": int(found[1])}


def _numbers(*names: str) -> Callable[[bytes], dict[str, int]]:
    def read(out: bytes) -> dict[str, int]:
        numbers = out.split()
        if len(numbers) != len(names):
            raise Wrong(f"{len(numbers)} numbers instead of {len(names)}")
        return dict(zip(names, map(int, numbers)))

    return read


def _statwalk(*names: str) -> Callable[[bytes], dict[str, int]]:
    def read(out: bytes) -> dict[str, int]:
        root = json.loads(out)["roots"][0]
        return {name: root[name] for name in names}

    return read


def _dua_total(out: bytes) -> dict[str, int]:
    found = re.search(rb"(\d+) b total\s*$", out)
    if not found:
        raise Wrong("no total in the last line")
    return {"allocated_bytes": int(found[1])}


def _dua_path(out: bytes) -> dict[str, int]:
    # Sorted by size, the empty directory first, the tree second, the total last.
    found = re.findall(rb"(\d+) b ", out)
    if len(found) != 3:
        raise Wrong("not three lines")
    return {"allocated_bytes": int(found[1])}


def _dust(out: bytes) -> dict[str, int]:
    return {"allocated_bytes": int(json.loads(out)["size"].removesuffix("B"))}


def _pdu(out: bytes) -> dict[str, int]:
    return {"allocated_bytes": json.loads(out)["tree"]["size"]}


def _bytes_printed(out: bytes) -> dict[str, int]:
    return {"entries": len(out)}


def _lines(out: bytes) -> dict[str, int]:
    return {"entries": out.count(b"\n")}


def _ncdu_export(out: bytes) -> dict[str, int]:
    """Adds up an ncdu export; a file with several names once."""
    total, seen, device = 0, set(), 0
    # Every directory is an array of which the first object is itself.
    pending = [(json.loads(out.decode(errors="replace"))[3], 0)]
    while pending:
        children, device = pending.pop()
        if "dev" in children[0]:
            device = children[0]["dev"]
        for child in children:
            if isinstance(child, list):
                pending.append((child, device))
                continue
            if child.get("hlnkc"):
                key = (device, child["ino"])
                if key in seen:
                    continue
                seen.add(key)
            total += child.get("dsize", 0)
    return {"allocated_bytes": total}


# --- what is right ---------------------------------------------------------

def _right(*names: str) -> Callable[[Answer], dict[str, int]]:
    return lambda answer: {name: getattr(answer, name) for name in names}


def _without_root_directory(answer: Answer) -> dict[str, int]:
    return {"allocated_bytes": answer.allocated_bytes - answer.root_allocated_bytes}


def _directories_4096(answer: Answer) -> dict[str, int]:
    return {"allocated_bytes": answer.allocated_bytes - answer.dirs_allocated_bytes + 4096 * answer.dirs}


def _without_root_entry(answer: Answer) -> dict[str, int]:
    return {"entries": answer.entries - 1}


_allocated = _right("allocated_bytes")
_entries = _right("entries")
_FLOOR_TOTALS = ("entries", "files", "dirs", "file_size_bytes", "allocated_bytes")
_FLOOR_COUNT = ("entries", "files", "dirs")
_STATWALK_TOTALS = (
    "entries", "files", "dirs", "symlinks", "file_size_bytes", "apparent_bytes", "allocated_bytes",
)
_STATWALK_COUNT = ("entries", "files", "dirs", "symlinks")


def _threaded(flag: str, before: list[str], after: list[str], read, expect) -> list[Variant]:
    """The default and, beside it, the thread counts worth trying."""
    variants = [Variant([*before, *after], read, expect)]
    variants += [Variant([*before, flag, str(n), *after], read, expect) for n in thread_counts()]
    return variants


def _debian(package: str) -> list[str]:
    return ["dpkg-query", "-W", package]


def all_engines(statwalk: Path | None, floor: Path) -> list[Engine]:
    """Every engine for both questions; `binary` is None where the program is missing."""
    n = processors()
    cc = os.environ.get("CC", "cc")
    cc_version = ["sh", "-c", f"{cc} --version | head -n1 | sed 's/$/, {' '.join(CC_FLAGS)}/'"]
    bfs_remark = "Upstream is at 4.1, which has threads and io_uring; no registry has it as a program."
    engines = [
        Engine("statwalk", TOTALS, "statwalk",
               [Variant(["-s", "--json", PATH], _statwalk(*_STATWALK_TOTALS), _right(*_STATWALK_TOTALS))],
               ["BINARY", "-V"], "Default settings, never tuned.", scales=True,
               counted=Variant(["-s", "--json", "-j", str(n), PATH], _statwalk(*_STATWALK_TOTALS),
                               _right(*_STATWALK_TOTALS))),
        Engine("floor", TOTALS, "floor",
               [Variant(["-j", str(n), PATH], _numbers(*_FLOOR_TOTALS), _right(*_FLOOR_TOTALS))],
               cc_version, "Our own C loop, no product: the least that a program must do.", scales=True),
        Engine("floor-1", TOTALS, "floor",
               [Variant(["-j", "1", PATH], _numbers(*_FLOOR_TOTALS), _right(*_FLOOR_TOTALS))],
               cc_version, "The floor with one thread.", scales=True),
        Engine("du", TOTALS, "du", [Variant(["-B1", "-s", PATH], _first_number, _allocated)],
               ["BINARY", "--version"], "One thread by design. The distribution's; coreutils is newer upstream.",
               scales=True),
        Engine("dua", TOTALS, "dua",
               # With one directory dua takes each of its children as an argument of its own and leaves
               # the directory itself out; an empty second one avoids both.
               _threaded("-t", ["aggregate", "-f", "bytes"], [PATH, EMPTY], _dua_path, _allocated)
               + [Variant(["aggregate", "-f", "bytes", PATH], _dua_total, _without_root_directory)],
               ["BINARY", "--version"],
               "An empty directory is a second argument, so that the first counts as a whole."),
        Engine("dust", TOTALS, "dust",
               _threaded("-T", ["-d", "0", "-j", "-o", "b", "-P"], [PATH], _dust, _allocated),
               ["BINARY", "--version"], "Builds its whole tree even for one line."),
        Engine("pdu", TOTALS, "pdu",
               _threaded("--threads", ["-H", "--json-output", "--omit-json-shared-details",
                                       "--omit-json-shared-summary", "--max-depth", "1"], [PATH], _pdu, _allocated),
               ["BINARY", "--version"], "With -H, because it counts each name of a file otherwise."),
        Engine("diskus", TOTALS, "diskus", _threaded("-j", [], [PATH], _first_number, _allocated),
               ["BINARY", "--version"], "Its default is three threads for each processor."),
        Engine("gdu", TOTALS, "gdu",
               [Variant(["-n", "-p", "-c", "--no-prefix", "--depth", "1", PATH], _first_number, _directories_4096),
                Variant(["-n", "-p", "-c", "--no-prefix", "-s", "--sequential", PATH], _first_number,
                        _directories_4096)],
               ["BINARY", "--version"],
               "Counts 4096 bytes for every directory instead of its blocks; the expectation is made so. "
               "5.37.0 exists, but the module proxy does not hand it out."),
        Engine("gdu-s", TOTALS, "gdu",
               [Variant(["-n", "-p", "-c", "--no-prefix", "-s", PATH], _first_number, _directories_4096)],
               ["BINARY", "--version"],
               "gdu's mode for one total. Its answer is not the same in every run (its wait group can be released "
               "before the last directory), and files in PATH itself count once for each name."),
        Engine("ncdu", TOTALS, "ncdu",
               [Variant(["-0", "-o", "/dev/null", PATH], _ncdu_export, _allocated,
                        check_arguments=["-0", "-o", "-", PATH])],
               ["BINARY", "-V"],
               "Prints no total: the answer is added up from its JSON, in a run of its own that is not timed. "
               "The distribution's 1.18 in C; upstream is at 2.8 in Zig, with threads, which no registry has."),
        Engine("treescan", TOTALS, "treescan",
               [Variant(["-q", "-s", PATH], None, None)], _debian("libio-aio-perl"),
               "Stats everything and adds nothing up: its answer cannot be checked."),
        Engine("statwalk", COUNT, "statwalk",
               [Variant(["--count", "--json", PATH], _statwalk(*_STATWALK_COUNT), _right(*_STATWALK_COUNT))],
               ["BINARY", "-V"], "Default settings, never tuned.", scales=True,
               counted=Variant(["--count", "--json", "-j", str(n), PATH], _statwalk(*_STATWALK_COUNT),
                               _right(*_STATWALK_COUNT))),
        Engine("floor", COUNT, "floor",
               [Variant(["-c", "-j", str(n), PATH], _numbers(*_FLOOR_COUNT), _right(*_FLOOR_COUNT))],
               cc_version, "Our own C loop, no product: the least that a program must do.", scales=True),
        Engine("floor-1", COUNT, "floor",
               [Variant(["-c", "-j", "1", PATH], _numbers(*_FLOOR_COUNT), _right(*_FLOOR_COUNT))],
               cc_version, "The floor with one thread.", scales=True),
        Engine("find", COUNT, "find", [Variant([PATH, "-printf", "."], _bytes_printed, _entries)],
               ["BINARY", "--version"],
               "Prints one byte for each entry, less than a path. The distribution's; findutils is newer upstream.",
               scales=True),
        Engine("bfs", COUNT, "bfs", [Variant([PATH, "-printf", "."], _bytes_printed, _entries)],
               ["BINARY", "--version"], "Prints one byte for each entry. " + bfs_remark),
        Engine("fd", COUNT, "fd",
               _threaded("-j", ["-u", "."], [PATH], _lines, _without_root_entry)
               + [Variant(["-u", "--format", "x", ".", PATH], _lines, _without_root_entry)],
               ["BINARY", "--version"], "Prints paths, as it has no count; does not print the root."),
        Engine("fdf", COUNT, "fdf", _threaded("-j", ["-HI", "."], [PATH], _lines, _without_root_entry),
               ["BINARY", "--version"], "Prints paths, as it has no count; does not print the root."),
        Engine("statwalk-find", COUNT, "statwalk", [Variant(["find", PATH], _lines, _without_root_entry)],
               ["BINARY", "-V"], "Prints paths, as fd and fdf do; does not print the root.", scales=True),
        Engine("treescan", COUNT, "treescan", [Variant([PATH], _lines, _entries)], _debian("libio-aio-perl"),
               "Prints paths, as it has no count."),
    ]
    for engine in engines:
        own = {"statwalk": statwalk, "floor": floor}
        if engine.program in own:
            path = own[engine.program]
            engine.binary = str(path.resolve()) if path else None
        else:
            engine.binary = find_program(engine.program)
    return engines
