# SPDX-License-Identifier: MIT OR Apache-2.0
"""How many system calls an engine makes for an entry, on small trees of the corpora's shapes.

strace makes each call take as long as twenty, so that counting on the corpora
would take an hour. What a call count per entry depends on is the shape of a
tree and not its size; what a program does besides is counted on an empty
directory and taken away.
"""

import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import calls, corpus, judge, oracle
from .corpus import CORPORA, Corpus, Place
from .engine import Engine
from .measurement import Runner, Timeout, say

# The corpora that are made, small.
SHAPES = [
    replace(CORPORA[name], name=f"calls-{name}", entries=10_000)
    for name in ("wide", "flat", "deep", "small-dirs")
]
TIMEOUT_S = 20.0
# statwalk does not believe a device what changed within two minutes.
SETTLED_S = 150.0


@dataclass
class Rates:
    """The calls of one engine on one tree."""

    engine: Engine
    command: str
    # Calls for each entry, beyond those for an empty directory, by name, the most frequent first.
    by_name: dict[str, float] = field(default_factory=dict)
    # Why there are none.
    missing: str | None = None


@dataclass
class Tree:
    """The rates of all engines on one tree for one question."""

    shape: Corpus
    question: str
    entries: int
    rates: list[Rates] = field(default_factory=list)


def prepare(folder: Path, generator: Path) -> list[tuple[Corpus, Place]]:
    """Makes the trees; the sooner, the less must be waited for them to settle."""
    return [(shape, corpus.prepare(shape, folder, generator)) for shape in SHAPES]


def measure(runner: Runner, engines: list[Engine], questions: list[str], places: list[tuple[Corpus, Place]],
            empty: str) -> list[Tree]:
    """Counts the calls of every engine, in its default settings, on every tree."""
    _settle([place for _, place in places])
    nothing = {}
    trees = []
    for shape, place in places:
        answer = oracle.ask(place.path, place.cwd)
        for question in questions:
            tree = Tree(shape, question, answer.entries)
            trees.append(tree)
            for engine in (e for e in engines if e.question == question):
                variant = engine.counted or engine.variants[0]
                rates = Rates(engine, engine.shown(variant))
                tree.rates.append(rates)
                command = engine.command(variant, place.path, empty)
                try:
                    problem = judge.of_program(variant, runner.run(command, place.cwd, TIMEOUT_S), answer)
                    if problem:
                        rates.missing = f"its answer is wrong: {problem}"
                        continue
                    if (question, engine.name) not in nothing:
                        nothing[question, engine.name] = calls.count(
                            engine.command(variant, empty, empty), place.cwd, runner.environment, TIMEOUT_S)
                    counted = calls.count(command, place.cwd, runner.environment, TIMEOUT_S)
                except (calls.NotCounted, Timeout) as reason:
                    rates.missing = str(reason)
                    continue
                rates.by_name = _beyond(counted, nothing[question, engine.name], answer.entries)
        say(f"  {shape.name} done")
    return trees


def _beyond(counted: dict[str, int], nothing: dict[str, int], entries: int) -> dict[str, float]:
    """The calls for each entry. Threads that wait for work make a few less for a tree than for nothing."""
    rates = {name: max(0, count - nothing.get(name, 0)) / entries for name, count in counted.items()}
    return dict(sorted(rates.items(), key=lambda item: -item[1]))


def _settle(places: list[Place]) -> None:
    """Waits until nothing in the trees is new."""
    # The last thing that the generator's caller does is to give the tree its name.
    made = max((Path(place.cwd) / f"{place.path}.json").stat().st_mtime for place in places)
    wait_s = made + SETTLED_S - time.time()
    if wait_s > 0:
        say(f"  waiting {wait_s:.0f} s, until the trees are no longer new")
        time.sleep(wait_s)
