# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which cases the articles' record is to hold, what shows most first, and how long they take."""

from dataclasses import dataclass
from math import log

from .contest import Limits
from .corpus import ARTICLES, CORPORA, Corpus
from .loop_device import KINDS
from .walker import MODELS

# Where a tree lies: on the file system of the folder, or on one made for it.
HERE = "here"
TREES: dict[str, Corpus] = {**CORPORA, **ARTICLES}
WALKS = tuple(model for model in MODELS if model != "directory")
# Article 5's condition: find must stat what treescan guesses.
UNTYPED = "ext4-untyped"
# Trees of one directory, for which `directory` is a question.
SINGLE = ("nine-thousand", "flat")
LARGE = ("home", "usr", "small-dirs", "links", "flat", "deep")
# What can be asked with nothing in memory: tmpfs is memory.
ON_DEVICES = tuple(kind for kind in KINDS if kind != "tmpfs")
# With more entries the start of a process is no matter, and article 1's rounds
# within one process would double the time for nothing.
INNER_ENTRIES_MAX = 100_000
# Where system calls are counted: how many there are for an entry depends on
# the shape of a tree and not on its size.
COUNTED = ("music", "music-down", "nine-thousand", "one-file")

# Trees of which the articles' tables speak: there everybody is asked.
FOR_ALL = ("music", "data", "nine-thousand", "home")
# Of ways that make the same calls in another loop, one: for the other trees, the
# other file systems, and with nothing in memory, where the calls are what counts.
ONE_OF_EACH = ("program/*,statwalk/*,c-*,cpp-std/*,rust/*,go/*,perl/*,python/os-walk,python/scandir-stack,"
               "python/scandir-rs,java/walk-file-tree,java/recursive,java/fork-join,java/work-stealing,"
               "node/readdir-sync,node/promises,qt/list-stack,qt/iterator-stack,csharp/enumerate-directories,"
               "winapi/stack")
# Who may come first, what everybody knows, and the loops with the fewest calls. What a file system makes of other
# shapes of trees, and the largest tree, are no matter of language.
RIVALS = ("program/statwalk,program/floor*,program/du,program/diskus,program/pdu,program/find,program/bfs,program/fd,"
          "program/fdf,statwalk/parallel,statwalk/inode,c-getdents,c-library/readdir,rust/article,rust/ignore")
# All but treescan, which takes ten to thirty times as long as the first everywhere: article 5's trees say how long.
CALLS_ALONE = "program/[!t]*,statwalk/*,c-*,rust/article,rust/ignore,perl/readdir"
# One tree says what languages make of a disk.
WITH_NOTHING_IN_MEMORY = (",program/*,cpp-std/*,perl/*,go/*,java/walk-file-tree,java/work-stealing,node/readdir-sync,"
                          "python/os-walk")
# The second and third question about other shapes are for the fast ones.
FAST = CALLS_ALONE + ",cpp-std/*,rust/*,go/*,java/work-stealing,java/walk-file-tree"


# Trees without a link upwards, for those who would not end at one. Beside them stand those with whom article 1
# compares them, all of whom it asked about its whole drive, and the nearest rivals.
DOWN = ("music-down", "data-down", "drive")
ARTICLE_1 = ("winapi/recursive,winapi/queue,winapi/stack,qt/*,csharp/*,java/recursive,java/iterative-*,"
             "java/walk-file-tree*,groovy/*,c-getdents,c-library/readdir,statwalk/parallel,program/statwalk,"
             "program/floor*")
# Without the runtimes that take seconds for it, as in the article.
ON_THE_DRIVE = ("winapi/recursive,winapi/queue,winapi/stack,qt/*,c-getdents,c-library/readdir,statwalk/*,"
                "program/statwalk,program/floor*")
# A check asks them once more about such a tree: the other one does not reach them.
FOLLOWING = "csharp/*,groovy/*"


@dataclass(frozen=True)
class Wanted:
    """A case that is to be measured."""

    corpus: str
    kind: str
    model: str
    cold: bool = False

    def shown(self) -> str:
        """As the record calls it."""
        return f"{self.corpus} on {self.kind}, {'cold' if self.cold else 'warm'}: {self.model}"

    def key(self) -> tuple[str, str, str, bool]:
        """What tells it from others in a record."""
        return self.corpus, self.kind, self.model, self.cold


def ways(wanted: Wanted, here: str, quick: bool) -> str | None:
    """Patterns of the names of those who are asked; None for all."""
    if quick:
        return None if wanted.model in ("size", "directory") else ONE_OF_EACH
    is_first = wanted.model in ("size", "directory")
    if wanted.corpus in DOWN and not wanted.cold:
        return ON_THE_DRIVE if wanted.corpus == "drive" else ARTICLE_1
    if wanted.corpus == "one-file":
        return ARTICLE_1
    if wanted.cold:
        if wanted.model == "records":
            return "cpp-std/*,threads/*,java/work-stealing,node/article,rust/article,c-getdents,statwalk/parallel"
        if wanted.corpus == "data" and is_first and wanted.kind == here:
            return RIVALS + WITH_NOTHING_IN_MEMORY
        # Article 5's programs are asked about a small tree everywhere, and about a large one where it lies.
        is_article_5 = wanted.corpus == "data" or wanted.kind == UNTYPED or (wanted.corpus == "home" and wanted.kind == here)
        return RIVALS + ",program/treescan" if is_article_5 else RIVALS
    if wanted.kind == UNTYPED:
        return RIVALS + ",program/treescan,perl/*"
    if wanted.kind != here:
        return FAST if wanted.corpus == "data" else RIVALS
    if wanted.corpus in SINGLE and wanted.model != "directory":
        return ONE_OF_EACH if is_first else FAST
    if wanted.corpus in FOR_ALL:
        # The larger one is article 4's, who asked for records.
        is_article_4 = wanted.corpus == "home" and wanted.model == "records"
        return FAST + ",java/*,node/*,threads/*" if is_article_4 else None
    if wanted.corpus == "users":
        return CALLS_ALONE if is_first else RIVALS
    if wanted.corpus == "small-dirs" and not is_first:
        return CALLS_ALONE
    # Article 3 had one directory.
    return FAST + (",java/directory-*" if wanted.corpus == "flat" else "")


def key(case: dict) -> tuple[str, str, str, bool]:
    """The same of a case that is in a record."""
    return case["corpus"], case["file_system"], case["model"], case["cold"]


def whole(here: str) -> list[Wanted]:
    """The whole record, where the folder lies on a file system of kind `here`."""
    # What the articles' own tables need.
    order = [Wanted("nine-thousand", here, "directory")]
    order += [Wanted("one-file", here, "size")]
    order += [Wanted(tree, here, "size") for tree in DOWN]
    order += [Wanted(tree, here, model) for tree in ("music", "data") for model in ("size", "count", "records")]
    order += [Wanted(tree, here, model) for tree in LARGE for model in ("size", "count")]
    # A file system is made once for what is asked on it.
    for kind in KINDS:
        order += _on_its_own("data", kind, here) + _on_its_own("home", kind, here)
    order += [Wanted(tree, here, "records") for tree in LARGE]
    # Article 4's second half: its own tree without page cache.
    order.append(Wanted("home", here, "records", cold=True))
    order += [Wanted("users", here, model) for model in ("size", "count", "records")]
    order += [Wanted("nine-thousand", here, model) for model in WALKS] + [Wanted("flat", here, "directory")]
    for kind in KINDS:
        # The shapes of trees are asked where listings have types.
        if kind == UNTYPED:
            continue
        for tree in ("small-dirs", "flat", "deep", "links"):
            order += _on_its_own(tree, kind, here)
    return order


def _on_its_own(tree: str, kind: str, here: str) -> list[Wanted]:
    """What is asked about a tree on a file system that is made for it."""
    # What a disk makes of other shapes is asked on one file system.
    cold_models = ("size", "count") if tree in FOR_ALL else ("size",) if kind == here else ()
    warm_models = ("size", "count", "records") if tree == "data" else ("size", "count")
    cold = [Wanted(tree, kind, model, cold=True) for model in cold_models]
    warm = [Wanted(tree, kind, model) for model in warm_models]
    return (cold if kind in ON_DEVICES else []) + (warm if kind != here else [])


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


def entries_of(corpus: str, cases: list[dict]) -> int:
    """How many entries a tree has, as far as it is known before it is made."""
    known = [case["files"] + case["dirs"] for case in cases if case["corpus"] == corpus]
    return known[0] if known else TREES[corpus].entries or 200_000


def timeout_s(entries: int, cold: bool) -> float:
    """How long a run may take: slow ways need some tens of microseconds for an entry."""
    return (20 + 40e-6 * entries) * (3 if cold else 1)


# What is assumed of a way that no case says anything of.
UNKNOWN_START_S, UNKNOWN_ENTRY_S = 0.1, 6e-6
# The oracle and the harness, for each entry and for each run.
ORACLE_ENTRY_S, RUN_S = 20e-6, 0.03
# Dropping caches, and reading from the device, beside the time of a warm run.
DROP_S, COLD_TIMES = 1.0, 4.0
# strace, beside the time of a run.
CALLS_TIMES = 5.0


def estimate_s(wanted: Wanted, names: list[str], cases: list[dict], limits: Limits, counts_calls: bool) -> float:
    """How long a case will take, by what other cases say of the ways that take part."""
    entries = entries_of(wanted.corpus, cases)
    total = ORACLE_ENTRY_S * entries
    walls = {name: _wall_s(name, entries, wanted, cases) for name in names}
    walls = {name: min(wall, limits.timeout_s) for name, wall in walls.items() if wall is not None}
    front_s = limits.front * min((wall for name, wall in walls.items() if "/nothing" not in name), default=0.0)
    for name, wall in walls.items():
        step = wall + RUN_S + (DROP_S if wanted.cold else 0.0)
        runs, used = 1, wall
        runs_min = limits.runs_in_front if wall <= front_s else 1
        while runs < limits.rounds and (used <= limits.budget_s or runs <= runs_min):
            runs, used = runs + 1, used + wall
        total += runs * step
        if limits.inner_rounds > 1 and not wanted.cold and not name.startswith("program/"):
            total += min(limits.inner_rounds * wall, max(limits.budget_s, 2 * wall))
        if counts_calls:
            total += CALLS_TIMES * wall
    return total


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
