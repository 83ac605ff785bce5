# SPDX-License-Identifier: MIT OR Apache-2.0
"""How long a case will take, and how long a run may."""

from math import log

from .agenda import TREES, Pairs, Wanted
from .contest import Limits
from .pairs import INNER_MAX, INNER_MIN, INNER_S


def entries_of(corpus: str, cases: list[dict]) -> int:
    """How many entries a tree has, as far as it is known before it is made."""
    known = [case["files"] + case["dirs"] for case in cases if case["corpus"] == corpus]
    return known[0] if known else TREES[corpus].entries or 200_000


# What is assumed of a way that no case says anything of.
UNKNOWN_START_S, UNKNOWN_ENTRY_S = 0.1, 6e-6
# The oracle and the harness, for each entry and for each run.
ORACLE_ENTRY_S, RUN_S = 20e-6, 0.03
# Dropping caches, and reading from the device, beside the time of a warm run.
DROP_S, COLD_TIMES = 1.0, 4.0
# strace, beside the time of a run.
CALLS_TIMES = 5.0


def case_s(wanted: Wanted, names: list[str], cases: list[dict], limits: Limits, counts_calls: bool) -> float:
    """How long a case will take, by what other cases say of the ways that take part."""
    entries = entries_of(wanted.corpus, cases)
    total = ORACLE_ENTRY_S * entries
    walls = {name: _wall_s(name, entries, wanted, cases) for name in names}
    walls = {name: wall for name, wall in walls.items() if wall is not None}
    front_s = limits.front * min((wall for name, wall in walls.items() if "/nothing" not in name), default=0.0)
    for name, wall in walls.items():
        step = wall + RUN_S + (DROP_S if wanted.cold else 0.0)
        if wall > limits.patience_s:
            total += limits.patience_s
            continue
        affordable = int(limits.budget_s / max(wall, 1e-3))
        rounds_min = limits.rounds_min + (not wanted.cold)
        runs = limits.rounds if wall <= front_s else min(limits.rounds, max(rounds_min, affordable))
        total += runs * step
        if limits.inner_rounds > 1 and not wanted.cold and not name.startswith("program/"):
            rounds = min(limits.inner_processes * limits.inner_rounds, affordable)
            total += max(rounds, limits.inner_processes * limits.inner_rounds_min) * _inner_s(name, wall, wanted, cases)
            total += limits.inner_processes * RUN_S
        if counts_calls:
            total += CALLS_TIMES * wall
    return total


def pairs_s(pairs: Pairs, wanted: Wanted, cases: list[dict]) -> float:
    """How long loops in pairs will take."""
    entries = entries_of(wanted.corpus, cases)
    total = ORACLE_ENTRY_S * entries
    for library in pairs.libraries:
        for name in library.ways.values():
            wall_s = _wall_s(name, entries, wanted, cases) or 0.0
            # Within a process there are INNER_MIN rounds at least, and more while they are short.
            inner_s = _inner_s(name, wall_s, wanted, cases)
            rounds_s = max(INNER_MIN * inner_s, min(INNER_S, INNER_MAX * inner_s))
            total += pairs.rounds * (wall_s + RUN_S + (rounds_s - inner_s if library.clock == "inner" else 0.0))
    return total


def _inner_s(name: str, wall_s: float, wanted: Wanted, cases: list[dict]) -> float:
    """One round within a process; a whole process at most."""
    same = [case for case in cases if (case["corpus"], case["model"]) == (wanted.corpus, wanted.model)]
    rows = [r for case in same for r in case["results"] if r["name"] == name and "inner_s" in r]
    return min(wall_s, rows[0]["inner_s"]["median"]) if rows else wall_s


def _wall_s(name: str, entries: int, wanted: Wanted, cases: list[dict]) -> float | None:
    """One run; None where the way has no time. The case most like it counts."""
    found = None
    for case in cases:
        there = case["files"] + case["dirs"]
        distance = (case["cold"] != wanted.cold, case["model"] != wanted.model,
                    abs(log(max(there, 1) / max(entries, 1))))
        result = next((r for r in case["results"] if r["name"] == name), None)
        if result and (found is None or distance < found[0]):
            found = distance, there, case["cold"], result
    if found is None:
        return UNKNOWN_START_S + UNKNOWN_ENTRY_S * entries * (COLD_TIMES if wanted.cold else 1.0)
    _, there, cold, result = found
    if "wall_s" not in result:
        return None if "unjudged" in result else UNKNOWN_START_S
    wall = result["wall_s"]["median"] * max(1.0, entries / max(there, 1))
    return wall * (COLD_TIMES if wanted.cold and not cold else 1.0)
