# SPDX-License-Identifier: MIT OR Apache-2.0
"""A figure of a sentence: an expression in braces, which the record answers and may refuse.

    {process home/ext4/size/warm program/du}              its median, in milliseconds
    {process home/ext4/size/warm program/du / program/find}   one divided by the other
    {range off process data-down/ext4/size/warm @recursion-queue}
    {holds time data-down/ext4/size/warm qt/list-stack / qt/iterator-stack > 1}
    {order process home/ext4/records/warm rust/article < java/work-stealing}
    {version qt/list-stack}                               its number alone
    {absent users/*/*/*}, {absent pairs}                  a sentence for as long as the record lacks such cases

`[FOLD] [UNIT] COLUMN CASES OPERANDS [CHECK]`

- FOLD: `least`, `most`, `median`, `range` or `count` of several values; without it there must be one.
- UNIT: `s` (seconds), `percent` (of the whole), `off` (per cent away from the whole).
- COLUMN: `within` (one process), `process`, `time` (the first where both ways have it, else the second), `cpu`, `user`,
  `system`, `memory` (MiB), `calls` (those that ask a file system, an entry), `files` and `dirs` of a tree.
  `paired` is the ratio of two loops of a library in turns; its operands are `LOOP / LOOP`, and it has a value for each library;
  `paired-clearly` has those alone whose whole interval is on one side of 1.
- CASES: `TREE/FILE-SYSTEM/MODEL/STATE`; each part may be a pattern.
- OPERANDS: `WAY`, `WAY / WAY`, several of them with commas, or `@NAME` of the pairs in `page.toml`. A pattern stands for
  the fastest that fits. `COLUMN:WAY` takes another column, and `CASE:WAY` another case.
- CHECK: `< NUMBER`, `> NUMBER` or `in LEAST..MOST`, which every value must pass. `holds` prints nothing, and only checks.
"""

import re
import statistics
from dataclasses import dataclass
from fnmatch import fnmatchcase

from . import case_table
from .file_calls import rates_of

FOLDS = ("least", "most", "median", "range", "count")
UNITS = ("s", "percent", "off")
TIMES = {"within": "inner_s", "process": "wall_s", "cpu": "cpu_s", "system": "system_s"}
OF_TREES = ("files", "dirs")
COLUMNS = (*TIMES, *OF_TREES, "time", "user", "memory", "calls", "paired", "paired-clearly")
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Misread(Exception):
    """An expression that means nothing; the text says why."""


class Absent(Exception):
    """The record has no such figure; the text says which, and `shown` stands in a table."""

    def __init__(self, text: str, shown: str = "–"):
        super().__init__(text)
        self.shown = shown


class Refused(Exception):
    """The record says otherwise than the sentence; the text says what it says."""


@dataclass(frozen=True)
class Value:
    """A number with the place where it is."""

    number: float
    where: str
    is_changed: bool = False
    is_unsteady: bool = False

    @property
    def marks(self) -> str:
        """What a reader is to know of it."""
        return (f" {case_table.CHANGED}" if self.is_changed else "") + (f" {case_table.UNSTEADY}" if self.is_unsteady else "")


def shown(text: str, data: dict) -> str:
    """What stands in place of the expression; nothing for one that only checks."""
    words = text.split()
    if words[:1] == ["order"]:
        _order(words[1:], data)
        return ""
    if words[:1] == ["version"] and len(words) == 2:
        return version_number(words[1], data)
    if words[:1] == ["absent"] and len(words) == 2:
        _absent(words[1], data)
        return ""
    is_silent = words[:1] == ["holds"]
    words = words[1:] if is_silent else words
    fold, words = _taken(words, FOLDS)
    unit, words = _taken(words, UNITS)
    if len(words) < 2 or words[0] not in COLUMNS:
        raise Misread(f"no column among {', '.join(COLUMNS)}")
    column, cases, *rest = words
    operands, check = _without_check(rest)
    found = _values(column, cases, operands, data)
    if not found and not (fold == "count" and column == "paired-clearly" and _values("paired", cases, operands, data)):
        raise Absent(f"the record has no {column} of {' '.join(operands)} in {cases}", _too_slow(cases, operands, data))
    # `count` with a check counts those that pass it.
    if fold == "count":
        number = sum(_passes(value.number, check) for value in found)
        return NUMBERS[number] if number < len(NUMBERS) else f"{number:,}"
    for value in found:
        if not _passes(value.number, check):
            raise Refused(f"{value.number:.4g} in {value.where}, and not {' '.join(check)}")
    if is_silent:
        return ""
    is_ratio = "/" in operands or bool(operands) and operands[0].startswith("@")
    marks = Value(0.0, "", any(value.is_changed for value in found), any(value.is_unsteady for value in found)).marks
    return _folded(fold, [value.number for value in found], unit, column, is_ratio) + marks


def _order(words: list[str], data: dict) -> None:
    """Whether the ways take longer and longer."""
    column, cases, *rest = [*words, "", ""] if len(words) < 2 else words
    ways = [word for word in rest if word != "<"]
    if len(rest) < 3 or rest[1::2] != ["<"] * (len(ways) - 1):
        raise Misread("an order is `COLUMN CASE WAY < WAY`")
    found = []
    for way in ways:
        values = _values(column, cases, [way], data)
        if len(values) != 1:
            raise Absent(f"the record has no {column} of {way} in {cases}")
        found.append(values[0].number)
    for (first, less), (second, more) in zip(zip(ways, found), list(zip(ways, found))[1:]):
        if less >= more:
            raise Refused(f"{first} has {less:.4g} and {second} {more:.4g} in {cases}")


def version_of(way: str, data: dict) -> str:
    """The version of the newest sitting that names the way, without what its maker adds."""
    sittings = reversed(data["sittings"])
    text = next((sitting["versions"][way] for sitting in sittings if way in sitting["versions"]), None)
    if text is None:
        raise Absent(f"the record has no version of {way}")
    text = re.sub(r" [(\[][^)\]]*[)\]]|, commit [\w-]+| Vendor.*| \d{4}-\d\d-\d\d.*", "", text)
    return re.sub(r"JIT compiler |Compiler |[Vv]ersion:? |github.com/\w+/", "", text)


def version_number(way: str, data: dict) -> str:
    """The first number of its version."""
    return re.sub(r"^\D*", "", version_of(way, data).split(",")[0]).split(" ")[0]


def _absent(what: str, data: dict) -> None:
    found = data.get("pairs") if what == "pairs" else fitting(what, data)
    if found:
        raise Refused(f"{len(found)} such cases")


def _taken(words: list[str], known: tuple[str, ...]) -> tuple[str | None, list[str]]:
    return (words[0], words[1:]) if words and words[0] in known else (None, words)


def _without_check(words: list[str]) -> tuple[list[str], list[str]]:
    for place, word in enumerate(words):
        if word in ("<", ">", "in"):
            check = words[place:]
            if len(check) != 2:
                raise Misread(f"a check is `< NUMBER`, `> NUMBER` or `in LEAST..MOST`, not `{' '.join(check)}`")
            _passes(1.0, check)
            return words[:place], check
    return words, []


def _passes(number: float, check: list[str]) -> bool:
    if not check:
        return True
    sign, bound = check
    try:
        if sign == "in":
            least, most = map(float, bound.split(".."))
            return least <= number <= most
        return number < float(bound) if sign == "<" else number > float(bound)
    except ValueError:
        raise Misread(f"`{bound}` is no bound") from None


def _values(column: str, cases: str, operands: list[str], data: dict) -> list[Value]:
    """The values of every case that fits and has them."""
    if cases.count("/") != 3:
        raise Misread(f"`{cases}` is no TREE/FILE-SYSTEM/MODEL/STATE")
    if column in ("paired", "paired-clearly"):
        return _paired(cases, operands, data, is_clear=column == "paired-clearly")
    found = []
    for case in fitting(cases, data):
        where = place_of(case)
        if column in OF_TREES:
            found.append(Value(case[column], where))
            continue
        for over, under in _pairs(operands):
            value = quotient(case, column, over, under, data)
            if value:
                found.append(Value(value.number, f"{where} {over}{f' / {under}' if under else ''}", value.is_changed,
                                   value.is_unsteady))
    return found


def _paired(cases: str, operands: list[str], data: dict, is_clear: bool) -> list[Value]:
    return [Value(pair["median"], f"{case['corpus']}, {library['name']}") for case in data.get("pairs", [])
            if all(fnmatchcase(have, part) for have, part in zip(place_of(case | {"cold": False}).split("/"), cases.split("/")))
            for library in case["libraries"] for pair in library.get("pairs", [])
            if [pair["over"], "/", pair["under"]] == operands
            and (not is_clear or pair["high"] < 1 or pair["low"] > 1)]


def fitting(cases: str, data: dict) -> list[dict]:
    """The cases that fit a pattern."""
    parts = cases.split("/")
    return [case for case in data["cases"]
            if all(fnmatchcase(have, part) for have, part in zip(place_of(case).split("/"), parts))]


def place_of(case: dict) -> str:
    """A case as expressions name it."""
    return f"{case['corpus']}/{case['file_system']}/{case['model']}/{case_table.state(case)}"


def _pairs(operands: list[str]) -> list[tuple[str, str | None]]:
    pairs: list[tuple[str, str | None]] = []
    for one in " ".join(operands).split(","):
        words = one.split()
        if len(words) == 1 and words[0].startswith("@"):
            try:
                pairs += [(over, under) for _, over, under in case_table.compared()["pairs"][words[0][1:]]]
            except KeyError:
                raise Misread(f"page.toml has no pairs `{words[0][1:]}`") from None
        elif len(words) == 1:
            pairs.append((words[0], None))
        elif len(words) == 3 and words[1] == "/":
            pairs.append((words[0], words[2]))
        else:
            raise Misread(f"`{one.strip()}` is neither a way nor two with ` / ` between them")
    return pairs


def quotient(case: dict, column: str, over: str, under: str | None, data: dict) -> Value | None:
    """A way's number in a case, or that number divided by another's."""
    if column == "time":
        value = quotient(case, "within", over, under, data)
        return value or quotient(case, "process", over, under, data)
    first = _one(case, column, over, data)
    if under is None or first is None:
        return first
    second = _one(case, column, under, data)
    if second is None or not second.number:
        return None
    return Value(first.number / second.number, first.where, first.is_changed or second.is_changed,
                 first.is_unsteady or second.is_unsteady)


def _one(case: dict, column: str, way: str, data: dict) -> Value | None:
    other, _, name = way.rpartition(":")
    if other.count("/") == 3:
        case = next(iter(fitting(other, data)), {**case, "results": []})
    elif other:
        column = other
    calls = rates_of(case, data) if column == "calls" else {}
    found = []
    for r in case["results"]:
        if fits(r["name"], name) and (number := _number(r, column, calls)) is not None:
            found.append(Value(number, r["name"], bool(r.get("changed")), column == "within" and "inner_unsteady" in r))
    return min(found, key=lambda value: value.number, default=None)


def fits(name: str, pattern: str) -> bool:
    """Whether a way is meant; `others` are all but statwalk and the floor, which is no product."""
    if pattern == "others":
        return "statwalk" not in name and not name.startswith("program/floor") and not name.endswith("/nothing")
    return fnmatchcase(name, pattern)


def _number(r: dict, column: str, calls: dict[str, dict[str, float]]) -> float | None:
    if column == "calls":
        return sum(calls[r["name"]].values()) if r["name"] in calls else None
    if column == "memory":
        return r["max_rss_kib"] / 1024 if "max_rss_kib" in r else None
    if column == "user":
        return 1e3 * max(0.0, r["cpu_s"]["median"] - r["system_s"]["median"]) if "system_s" in r else None
    if column not in TIMES:
        raise Misread(f"no column {column}")
    key = TIMES[column]
    return 1e3 * r[key]["median"] if key in r else None


def _too_slow(cases: str, operands: list[str], data: dict) -> str:
    """For a table: that a run takes longer than anybody waits."""
    if len(operands) == 1:
        for case in fitting(cases, data):
            for r in case["results"]:
                if r["name"] == operands[0] and "slow_s" in r:
                    return f"> {1e3 * r['slow_s']:,.0f}"
    return "–"


def _folded(fold: str | None, numbers: list[float], unit: str | None, column: str, is_ratio: bool) -> str:
    folds = {"least": min, "most": max, "median": statistics.median}
    if unit == "off":
        numbers = [abs(1 - number) for number in numbers]
    if fold in folds:
        numbers = [folds[fold](numbers)]
    if fold == "range":
        ends = [_formed(number, unit, column, is_ratio) for number in (min(numbers), max(numbers))]
        return ends[0] if ends[0] == ends[1] else " to ".join(ends)
    if len(numbers) != 1:
        raise Misread(f"{len(numbers)} values: say `range`, `least`, `most`, `median` or `count`")
    return _formed(numbers[0], unit, column, is_ratio)


def _formed(number: float, unit: str | None, column: str, is_ratio: bool) -> str:
    """A number as the page shows it."""
    if unit in ("percent", "off"):
        percent = 100 * number
        return f"{percent:.0f}" if percent >= 10 else f"{percent:.1f}".removesuffix(".0")
    if unit == "s":
        return f"{number / 1e3:,.2f}" if number < 1e5 else f"{number / 1e3:,.1f}"
    if column in OF_TREES:
        return f"{number:,.0f}"
    if is_ratio or column == "calls":
        return f"{number:.2f}"
    return case_table.shown_number(number)
