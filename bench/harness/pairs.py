# SPDX-License-Identifier: MIT OR Apache-2.0
"""Article 1's loops in pairs: recursion, queue and stack of one library, in turns, so that a few per cent can be seen.

In each round every loop of every library has one run. The libraries follow each other in a new order, and so do the
loops of one; what slows the machine for a while slows all loops of a library. The ratio of two is taken within a round.
"""

import random
import statistics
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

from .agenda import Library
from .contest import Contest, Contestant, Result
from .measurement import say
from .oracle import Answer
from .walk_oracle import Tree, Unjudged
from .walker import Walker

# How sure the interval of a median of ratios is at least.
CONFIDENCE = 0.95
# A round of a loop is the median of so many within one process, the first of them dropped; fewer where they are slow.
INNER_MAX, INNER_MIN, INNER_S = 11, 3, 0.3


@dataclass
class Loops:
    """The loops of a library, and their times by round."""

    library: Library
    results: dict[str, Result]
    times_s: dict[str, list[float]] = field(default_factory=dict)
    # Rounds within a process; one where the process is what has a time.
    inner_rounds: int = 1
    problem: str | None = None


def measure(contest: Contest, libraries: list[Library], walkers: dict[str, Walker], model: str, rounds: int, path: str,
            tree: Tree, answer: Answer, order: random.Random) -> list[Loops]:
    """Rounds of all libraries whose loops are here and end on the tree."""
    every = [_loops(library, walkers, model, tree) for library in libraries]
    contestants = [result.contestant for loops in every for result in loops.results.values()]
    with contest.kept(contestants):
        for loops in every:
            _warm(contest, loops, path, tree, answer)
        for number in range(rounds):
            order.shuffle(every)
            for loops in every:
                names = list(loops.results)
                order.shuffle(names)
                for name in names:
                    if not loops.problem:
                        _turn(contest, loops, name, path, tree, answer)
            say(f"  round {number} done")
    for loops in every:
        if loops.problem:
            say(f"    {loops.library.name}: {loops.problem}")
    return sorted(every, key=lambda loops: libraries.index(loops.library))


def _loops(library: Library, walkers: dict[str, Walker], model: str, tree: Tree) -> Loops:
    found = {loop: walkers[way] for loop, way in library.ways.items() if way in walkers}
    loops = Loops(library, {loop: Result(Contestant(walker, model)) for loop, walker in found.items()},
                  {loop: [] for loop in found})
    try:
        for walker in found.values():
            walker.may_walk(tree)
    except Unjudged as reason:
        loops.problem = str(reason)
    if len(found) < 2:
        loops.problem = "fewer than two of its loops are here"
    return loops


def _warm(contest: Contest, loops: Loops, path: str, tree: Tree, answer: Answer) -> None:
    """A process that counts for nothing says how many rounds the others have time for."""
    for result in loops.results.values():
        if loops.problem:
            return
        contest.run(result, path, 1, tree, answer)
        loops.problem = result.why_out
    if loops.library.clock == "inner" and not loops.problem:
        slowest_s = max(result.first_s for result in loops.results.values())
        loops.inner_rounds = max(INNER_MIN, min(INNER_MAX, int(INNER_S / max(slowest_s, 1e-5))))


def _turn(contest: Contest, loops: Loops, name: str, path: str, tree: Tree, answer: Answer) -> None:
    result = loops.results[name]
    if loops.library.clock == "inner":
        times = contest.inner_times(result, path, loops.inner_rounds, tree, answer)
        time_s = statistics.median(times) if times else None
    else:
        run = contest.undisturbed_run(result, path, tree, answer)
        time_s = run.wall_s if run else None
    loops.problem = result.why_out
    if time_s is not None:
        loops.times_s[name].append(time_s)


def data_of(every: list[Loops]) -> list[dict]:
    """The libraries of a case of the record."""
    return [_data(loops) for loops in every]


def _data(loops: Loops) -> dict:
    said: dict = {"name": loops.library.name, "clock": loops.library.clock, "ways": loops.library.ways}
    if loops.problem:
        return said | {"wrong": loops.problem}
    times = {loop: [round(time, 7) for time in times] for loop, times in loops.times_s.items()}
    return said | {"inner_rounds": loops.inner_rounds, "times_s": times,
                   "pairs": [compared(over, under, times) for over, under in combinations(times, 2)]}


def compared(over: str, under: str, times_s: dict[str, list[float]]) -> dict:
    """Two loops: the ratio of each round, the median of the ratios and an interval for it."""
    ratios = [a / b for a, b in zip(times_s[over], times_s[under])]
    low, high, confidence = interval(ratios)
    return {"over": over, "under": under, "median": round(statistics.median(ratios), 4), "low": round(low, 4),
            "high": round(high, 4), "confidence": round(confidence, 4), "above": sum(ratio > 1 for ratio in ratios),
            "ratios": [round(ratio, 4) for ratio in ratios]}


def interval(values: list[float], confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """Between which of the values the true median lies, and how surely: by the sign test, whatever they are spread like.

    It is the narrowest pair with at least this confidence; of too few values, the least and the most with less.
    """
    ordered, count = sorted(values), len(values)

    def outside(place: int) -> float:
        """How likely the median is below the value at a place from the least, or above that from the most."""
        return 2 * sum(comb(count, number) for number in range(place + 1)) / 2**count

    place = max((place for place in range((count + 1) // 2) if outside(place) <= 1 - confidence), default=0)
    return ordered[place], ordered[count - 1 - place], max(0.0, 1 - outside(place))
