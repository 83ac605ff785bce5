# SPDX-License-Identifier: MIT OR Apache-2.0
"""The finished programs of `programs/`: their installation, their command lines, and what they answer."""

import os
import re
import subprocess
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from . import judge
from .measurement import processors
from .programs import BENCH, CC_FLAGS, find_program

PROGRAMS = BENCH / "programs"
# Stand for the corpus, for an empty directory and for the number of processors in command lines.
PATH, EMPTY, PROCESSORS = "PATH", "EMPTY", "PROCESSORS"

# The sizes of everything; the names and types of everything.
TOTALS, COUNT = "totals", "count"
QUESTIONS = (TOTALS, COUNT)
# Asked beside these where only time is wanted: a walk without an answer, and one that stats each entry.
NAMES, STATS = "names", "stats"
ALL_QUESTIONS = (*QUESTIONS, NAMES, STATS)

# What a definition may say; a slip of the pen would say nothing in silence.
PROGRAM_KEYS = {"install", "version", "engine"}
ENGINE_KEYS = {"name", "question", "remark", "wrong", "scales", "counted", "call"}
CALL_KEYS = {"arguments", "threads", "read", "right", "check"}
WAYS_TO_INSTALL = ("crate", "debian", "suite", "go", "wheel", "built")


@dataclass
class Variant:
    """One way to call an engine; the fastest right one is compared."""

    arguments: list[str]
    # Reads the answer as named numbers from stdout; None when there is none to read.
    read: judge.Reader | None = None
    # The same names with the right numbers.
    expect: judge.Expectation | None = None
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
    version: list[str] = field(default_factory=list)
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

    def called(self, name: str, *words: str) -> "Engine":
        """The same by another name, and with words before the path; its first way to be called alone."""
        variant = self.variants[0]
        return replace(self, name=name, variants=[replace(variant, arguments=_inserted(variant.arguments, *words))])

    def shown(self, variant: Variant) -> str:
        """The command line for the record."""
        return " ".join([self.program, *variant.arguments])

    def version_text(self) -> str:
        """What the program says of itself."""
        if not self.version:
            return ""
        if self.version == ["COMPILER"]:
            return _compiler()
        done = subprocess.run(
            [a if a != "BINARY" else str(self.binary) for a in self.version],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        # Terminal colours are of no use in a record.
        text = re.sub(rb"\x1b\[[0-9;]*m", b"", done.stdout).decode(errors="replace").strip()
        line = re.sub(r"\s+", " ", text.splitlines()[0]) if text else "unknown"
        return line.removeprefix("Version: ")


def thread_counts() -> list[int]:
    """What is tried beside the default: as many as processors, and twice that."""
    return [processors(), 2 * processors()]


def _compiler() -> str:
    """What our own programs are compiled with."""
    done = subprocess.run([os.environ.get("CC", "cc"), "--version"], stdout=subprocess.PIPE, text=True)
    return f"{done.stdout.splitlines()[0]}, {' '.join(CC_FLAGS)}"


def _inserted(arguments: list[str], *words: str) -> list[str]:
    place = arguments.index(PATH)
    return [*arguments[:place], *words, *arguments[place:]]


@cache
def definitions() -> dict[str, dict]:
    """What each program's `engine.toml` says, by the program's name."""
    found = {}
    for file in sorted(PROGRAMS.glob("*/engine.toml")):
        data = tomllib.loads(file.read_text())
        _check(data, str(file.relative_to(BENCH)))
        found[file.parent.name] = data
    return found


def _check(data: dict, where: str) -> None:
    """Refuses what means nothing."""
    keys = [(data, PROGRAM_KEYS), *((engine, ENGINE_KEYS) for engine in data["engine"]),
            *((call, CALL_KEYS) for engine in data["engine"] for call in engine["call"])]
    for table, known in keys:
        if set(table) - known:
            raise judge.Misdefined(f"{where}: no key {', '.join(sorted(set(table) - known))}")
    if not any(way in data["install"] for way in WAYS_TO_INSTALL):
        raise judge.Misdefined(f"{where}: install needs one of {', '.join(WAYS_TO_INSTALL)}")
    for engine in data["engine"]:
        if engine["question"] not in ALL_QUESTIONS:
            raise judge.Misdefined(f"{where}: no question {engine['question']}; there are {', '.join(ALL_QUESTIONS)}")


def _variants(call: dict) -> list[Variant]:
    """A way to call a program, and beside it the thread counts worth trying."""
    read = judge.reader(call["read"]) if "read" in call else None
    expect = judge.expectation(call.get("right") or judge.names(call["read"])) if read else None
    places = {PROCESSORS: str(processors())}
    plain = Variant([places.get(word, word) for word in call["arguments"]], read, expect, call.get("check"))
    if "threads" not in call:
        return [plain]
    return [plain] + [replace(plain, arguments=_inserted(plain.arguments, call["threads"], str(number)))
                      for number in thread_counts()]


def _engine(program: str, data: dict, entry: dict) -> Engine:
    remarks = (entry.get("remark", ""), entry.get("wrong", ""))
    engine = Engine(entry["name"], entry["question"], program,
                    [variant for call in entry["call"] for variant in _variants(call)], data["version"],
                    " ".join(word for remark in remarks for word in remark.split()), scales=entry.get("scales", False))
    if "counted" in entry:
        engine.counted = _variants({**entry["call"][0], "arguments": entry["counted"]})[0]
    return engine


def all_engines(statwalk: Path | None, floor: Path) -> list[Engine]:
    """Every program and question; `binary` is None where the program is missing."""
    own = {"statwalk": statwalk, "floor": floor}
    engines = [_engine(program, data, entry) for program, data in definitions().items() for entry in data["engine"]]
    for engine in engines:
        if engine.program in own:
            path = own[engine.program]
            engine.binary = str(path.resolve()) if path else None
        else:
            engine.binary = find_program(engine.program)
    return engines


def asked(engines: list[Engine], question: str) -> dict[str, Engine]:
    """Those that are there and answer a question, by name."""
    return {engine.name: engine for engine in engines if engine.question == question and engine.binary}
