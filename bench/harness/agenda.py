# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which cases the articles' record is to hold, and who is asked, as `cases.toml` says."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from .corpus import ARTICLES, CORPORA, Corpus
from .loop_device import KINDS
from .programs import BENCH
from .walker import MODELS, all_walkers

# Where a tree lies: on the file system of the folder, or on one made for it.
HERE = "here"
TREES: dict[str, Corpus] = {**CORPORA, **ARTICLES}
WALKS = tuple(model for model in MODELS if model != "directory")
# Trees of one directory, for which `directory` is a question.
SINGLE = ("nine-thousand", "flat")
# Article 5's condition: find must stat what treescan guesses.
UNTYPED = "ext4-untyped"
# Can be asked about with nothing in memory: tmpfs is memory.
ON_DEVICES = tuple(kind for kind in KINDS if kind != "tmpfs")
# The agenda of a whole record, and those of two options of `bench/articles`.
RECORD, QUICK, CHECK = MODES = ("record", "quick", "check")
STATES = ("warm", "cold")
LOOPS = ("recursion", "queue", "stack")
CLOCKS = ("inner", "process")


class Misstated(Exception):
    """`cases.toml` says something that means nothing; the text says what."""


@dataclass(frozen=True)
class Wanted:
    """A case that is to be measured."""

    corpus: str
    kind: str
    model: str
    cold: bool = False

    def shown(self) -> str:
        """As the record calls it."""
        return f"{self.corpus} on {self.kind}, {self.state}: {self.model}"

    def key(self) -> tuple[str, str, str, bool]:
        """Tells it from others in a record."""
        return self.corpus, self.kind, self.model, self.cold

    @property
    def state(self) -> str:
        """Its state by name."""
        return STATES[self.cold]


def key(case: dict) -> tuple[str, str, str, bool]:
    """The same of a case that is in a record."""
    return case["corpus"], case["file_system"], case["model"], case["cold"]


def is_at(where: str, kind: str, here: str) -> bool:
    """Whether a file system is where something applies."""
    return where == "everywhere" or (where == HERE) == (kind == here)


@dataclass(frozen=True)
class Ask:
    """Questions about trees on one of the file systems of a round."""

    trees: list[str]
    models: list[str]
    sections: list[str] = field(default_factory=list)
    state: str = "warm"
    where: str = "everywhere"

    def cases(self, kind: str, here: str) -> Iterator[Wanted]:
        """The cases on a file system of this kind."""
        cold = self.state == "cold"
        if is_at(self.where, kind, here) and (kind in ON_DEVICES or not cold):
            for tree in self.trees:
                yield from (Wanted(tree, kind, model, cold) for model in self.models)


@dataclass(frozen=True)
class Round:
    """What is asked on each of some file systems in turn."""

    why: str
    file_systems: list[str]
    asks: list[Ask]
    mode: str = RECORD

    def cases(self, here: str) -> Iterator[tuple[Wanted, list[str]]]:
        """Its cases, each with the sections of the page that show it."""
        for kind in self.file_systems:
            for ask in self.asks:
                yield from ((case, ask.sections) for case in ask.cases(here if kind == HERE else kind, here))


@dataclass(frozen=True)
class Who:
    """Whom a case is put to; what it does not name fits."""

    ways: list[str]
    mode: str = RECORD
    trees: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    where: str = "everywhere"
    patience_s: float = 2.0
    why: str = ""

    def fits(self, case: Wanted, here: str, mode: str) -> bool:
        """Whether this rule is about the case."""
        asked = ((self.trees, case.corpus), (self.kinds, case.kind), (self.models, case.model),
                 (self.states, case.state))
        return (self.mode == mode and is_at(self.where, case.kind, here)
                and all(not named or value in named for named, value in asked))


@dataclass(frozen=True)
class Library:
    """The loops of one library that `pairs` puts beside each other."""

    name: str
    # `recursion`, `queue` and `stack`, as far as there is a way for each.
    ways: dict[str, str]
    # Whose clock counts: that of rounds within a process, "inner", or that of processes, "process".
    clock: str = "inner"


@dataclass(frozen=True)
class Pairs:
    """Loops that are measured in turns, round by round, because they differ by a few per cent."""

    why: str
    trees: list[str]
    model: str
    sections: list[str]
    # At least 21 of them see 5 % where single ratios vary by 8.
    rounds: int
    libraries: list[Library]
    patience_s: float = 5.0

    def cases(self, here: str) -> list[Wanted]:
        """One for each tree, on the file system of the folder."""
        return [Wanted(tree, here, self.model) for tree in self.trees]


class Agenda:
    """Everything that `cases.toml` says."""

    def __init__(self, text: str):
        data = tomllib.loads(text)
        self.groups: dict[str, list[str]] = data["ways"]
        try:
            self.rounds = [Round(**{**entry, "asks": [Ask(**ask) for ask in entry["asks"]]})
                           for entry in data["round"]]
            self.rules = [Who(**entry) for entry in data["who"]]
            self.pairs = [Pairs(**{**entry, "libraries": [Library(**one) for one in entry["libraries"]]})
                          for entry in data.get("pairs", [])]
        except TypeError as error:
            raise Misstated(f"cases.toml: {error}") from error
        self.counted: list[str] = data["calls"]["trees"]
        self.within: list[str] = data["within_one_process"]["trees"]
        self._check()

    def cases(self, here: str, mode: str = RECORD, sections: list[str] | None = None) -> list[Wanted]:
        """The cases of a mode in the order of measuring, where the folder lies on a file system of kind `here`."""
        found = (case for one in self.rounds if one.mode == mode for case, shown_in in one.cases(here)
                 if not sections or set(sections) & set(shown_in))
        return list(dict.fromkeys(found))

    @property
    def sections(self) -> list[str]:
        """The parts of the page that cases belong to."""
        return sorted({name for one in self.rounds for ask in one.asks for name in ask.sections}
                      | {name for one in self.pairs for name in one.sections})

    def ways(self, case: Wanted, here: str, mode: str = RECORD) -> str:
        """Patterns of the names of those who are asked, separated by commas."""
        return ",".join(self._spelled(self.rule(case, here, mode).ways))

    def rule(self, case: Wanted, here: str, mode: str = RECORD) -> Who:
        """Who is asked, and how long a run may take."""
        return next(rule for rule in self.rules if rule.fits(case, here, mode))

    def _spelled(self, names: list[str]) -> Iterator[str]:
        """Patterns, with those of groups in place of their names."""
        for name in names:
            if name.startswith("@"):
                yield from self._spelled(self.groups[name[1:]])
            else:
                yield name

    def _check(self) -> None:
        """Refuses names that nothing has: a slip of the pen would leave cases out in silence."""
        known = {"tree": TREES, "model": MODELS, "kind": KINDS, "state": STATES, "mode": MODES,
                 "where": ("everywhere", HERE, "elsewhere"), "group of ways": self.groups,
                 "file system": (HERE, *KINDS), "clock": CLOCKS, "loop": LOOPS,
                 "way": [walker.name for walker in all_walkers()]}
        said: list[tuple[str, str]] = [("tree", name) for name in [*self.counted, *self.within]]
        for one in self.rounds:
            said += [("mode", one.mode), *(("file system", name) for name in one.file_systems)]
            for ask in one.asks:
                said += [*(("tree", name) for name in ask.trees), *(("model", name) for name in ask.models)]
                said += [("state", ask.state), ("where", ask.where)]
        for one in self.pairs:
            said += [("model", one.model), *(("tree", name) for name in one.trees)]
            for library in one.libraries:
                said += [("clock", library.clock), *(("loop", name) for name in library.ways),
                         *(("way", name) for name in library.ways.values())]
        for rule in self.rules:
            for what, names in (("tree", rule.trees), ("kind", rule.kinds), ("model", rule.models),
                                ("state", rule.states)):
                said += [(what, name) for name in names]
            said += [("mode", rule.mode), ("where", rule.where)]
        for names in [*self.groups.values(), *(rule.ways for rule in self.rules)]:
            said += [("group of ways", name[1:]) for name in names if name.startswith("@")]
        for what, name in said:
            if name not in known[what]:
                raise Misstated(f"cases.toml: no {what} `{name}`; there are {', '.join(known[what])}")
        for mode in MODES:
            if not any(rule == Who(ways=rule.ways, mode=mode, patience_s=rule.patience_s, why=rule.why)
                       for rule in self.rules):
                raise Misstated(f"cases.toml: the mode `{mode}` has no rule for every case")


@cache
def agenda() -> Agenda:
    """The agenda as it stands."""
    return Agenda((BENCH / "cases.toml").read_text())


def every(corpora: list[str], kinds: list[str]) -> list[Wanted]:
    """All that can be asked about these trees on these file systems."""
    found = []
    for tree in corpora:
        models = MODELS if tree in SINGLE else WALKS
        for kind in kinds:
            found += [Wanted(tree, kind, model) for model in models]
            if kind in ON_DEVICES and not TREES[tree].existing:
                found += [Wanted(tree, kind, model, cold=True) for model in ("size", "count")]
    return found
