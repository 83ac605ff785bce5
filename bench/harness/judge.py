# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whether an answer is right: nothing else here decides that.

The right answers come from `oracle.py` (for finished programs) and `walk_oracle.py` (for walkers).
A definition says how an output is read and which numbers must come of it: see `programs/README.md`.
"""

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from .measurement import Run
from .oracle import Answer
from .programs import BENCH
from .walk_oracle import Tree

if TYPE_CHECKING:
    from .walker import Walker

# An answer by names; None is a number that the oracle does not know of a tree.
Numbers = dict[str, int | str | None]
Reader = Callable[[bytes], Numbers]
Expectation = Callable[[Answer], Numbers]


class Unreadable(Exception):
    """The output has another form than its reader expects."""


class Misdefined(Exception):
    """A definition says something that no reader and no expectation can be made of."""


class Asked(Protocol):
    """A way to call a finished program."""

    # None where there is nothing to read.
    read: Reader | None
    expect: Expectation | None
    # The answer is in the output of other arguments.
    check_arguments: list[str] | None


def of_program(call: Asked, run: Run, answer: Answer) -> str | None:
    """What is wrong with the answer of a finished program, if anything."""
    if run.status != 0:
        return _failure(run)
    if call.check_arguments:
        return None
    return of_output(call, run.stdout, answer)


def of_output(call: Asked, out: bytes, answer: Answer) -> str | None:
    """What is wrong with an output that holds the answer of a call, if anything."""
    if call.read is None or call.expect is None:
        return None
    try:
        got = call.read(out)
    except (Unreadable, ValueError, KeyError, IndexError, TypeError) as error:
        return f"unreadable answer: {error}"
    for name, right in call.expect(answer).items():
        if right is not None and got.get(name) != right:
            return f"{name} is {got.get(name)} instead of {right}"
    return None


def of_walk(walker: "Walker", model: str, rounds: int, run: Run, tree: Tree) -> tuple[str | None, list[float]]:
    """What is wrong with the answers of a walker, if anything, and how long its rounds took by its own clock."""
    if run.status != 0:
        return _failure(run), []
    try:
        lines = [tuple(map(int, line.split())) for line in run.stdout.decode().splitlines()]
    except ValueError:
        return f"unreadable answer: {run.stdout[:80]!r}", []
    if len(lines) != rounds:
        return f"{len(lines)} answers for {rounds} rounds", []
    if not all(lines):
        return "unreadable answer: an empty line", []
    if not walker.is_baseline:
        right = tree.count(walker.counts).printed(model)
        for line in lines:
            if line[1:] != right:
                return f"{line[1:]} instead of {right}", []
    return None, [line[0] / 1e9 for line in lines]


def _failure(run: Run) -> str:
    lines = run.stderr.decode(errors="replace").replace(f"{BENCH}/", "").strip().splitlines()
    return f"exit status {run.status}: {lines[-1][:160] if lines else 'no message'}"


# --- readers: from an output to named numbers --------------------------------

def reader(spec: dict) -> Reader:
    """A reader as a definition has it; its first key says of which kind."""
    for kind, make in _READERS.items():
        if kind in spec:
            return make(spec)
    raise Misdefined(f"no reader {spec}; there are {', '.join(_READERS)}")


def names(spec: dict) -> list[str]:
    """The numbers that a reader finds."""
    if "json" in spec:
        return list(spec["json"])
    return spec.get("numbers") or [spec.get("name") or spec["ncdu_export"]]


def _of_pattern(spec: dict) -> Reader:
    """The number that a pattern finds; of several, which of how many."""
    pattern, count, which = re.compile(spec["pattern"].encode()), spec.get("matches"), spec.get("take", 1)

    def read(out: bytes) -> Numbers:
        found = pattern.findall(out)
        if not found or (count and len(found) != count):
            raise Unreadable(f"{len(found)} matches of {spec['pattern']!r} instead of {count or 'at least one'}")
        return {spec["name"]: int(found[which - 1])}

    return read


def _of_numbers(spec: dict) -> Reader:
    """Numbers in a row, and nothing else."""
    names = spec["numbers"]

    def read(out: bytes) -> Numbers:
        numbers = out.split()
        if len(numbers) != len(names):
            raise Unreadable(f"{len(numbers)} numbers instead of {len(names)}")
        return dict(zip(names, map(int, numbers)))

    return read


def _of_json(spec: dict) -> Reader:
    """Values of a JSON document, each by the way to it: `roots.0.entries`, and `*` for the sum over a list."""
    ways = spec["json"]

    def read(out: bytes) -> Numbers:
        document = json.loads(out)
        return {name: _at(document, way.split("."), spec.get("suffix", "")) for name, way in ways.items()}

    return read


def _at(value, way: list[str], suffix: str) -> int | str:
    for number, word in enumerate(way):
        if word == "*":
            parts = [_at(part, way[number + 1:], suffix) for part in value]
            return sum(part for part in parts if isinstance(part, int))
        value = value[int(word)] if isinstance(value, list) else value[word]
    # Some write a number with its unit behind.
    return int(value.removesuffix(suffix)) if suffix and isinstance(value, str) else value


def _of_amount(spec: dict) -> Reader:
    """How many bytes or lines there are."""
    amounts = {"bytes": len, "lines": lambda out: out.count(b"\n")}
    if spec["amount"] not in amounts:
        raise Misdefined(f"no amount of {spec['amount']}; there are {', '.join(amounts)}")
    count = amounts[spec["amount"]]
    return lambda out: {spec["name"]: count(out)}


def _of_ncdu_export(spec: dict) -> Reader:
    """Adds up the allocated bytes of an ncdu export; a file with several names once."""

    def read(out: bytes) -> Numbers:
        total, seen = 0, set()
        # Every directory is an array of which the first object is itself.
        pending = [(json.loads(out.decode(errors="replace"))[3], 0)]
        while pending:
            children, device = pending.pop()
            device = children[0].get("dev", device)
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
        return {spec["ncdu_export"]: total}

    return read


_READERS = {"pattern": _of_pattern, "numbers": _of_numbers, "json": _of_json, "amount": _of_amount,
            "ncdu_export": _of_ncdu_export}


# --- expectations: from the oracle's answer to the same numbers ---------------

def expectation(spec: list[str] | dict[str, str]) -> Expectation:
    """The oracle's numbers of these names, or each name with what must stand for it: `entries - 1`."""
    sums = {name: _sum(text) for name, text in (spec.items() if isinstance(spec, dict) else zip(spec, spec))}
    return lambda answer: {name: value(answer) for name, value in sums.items()}


def _sum(text: str) -> Callable[[Answer], int | None]:
    """A sum of numbers, names, and numbers times names."""
    if not re.fullmatch(r"\s*[-+]?\s*\w+(\s*\*\s*\w+)?(\s*[-+]\s*\w+(\s*\*\s*\w+)?)*\s*", text):
        raise Misdefined(f"no sum of numbers and names: {text!r}")
    terms = re.findall(r"([-+]?)\s*(\w+)(?:\s*\*\s*(\w+))?", text)
    for name in (word for _, *words in terms for word in words if word and not word.isdigit()):
        if name not in Answer.__dataclass_fields__:
            raise Misdefined(f"the oracle has no {name}; it has {', '.join(Answer.__dataclass_fields__)}")

    def value(answer: Answer) -> int | None:
        total = 0
        for sign, *words in terms:
            product = -1 if sign == "-" else 1
            for word in filter(None, words):
                factor = int(word) if word.isdigit() else getattr(answer, word)
                if factor is None:
                    return None
                product *= factor
            total += product
        return total

    return value
