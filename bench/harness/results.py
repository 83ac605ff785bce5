# SPDX-License-Identifier: MIT OR Apache-2.0
"""The record of the articles' experiments."""

import json
import statistics
import sys
from math import inf
from pathlib import Path

from . import case_table, ranking
from .contest import Result
from .corpus import Corpus
from .record import quartiles
from .walk_oracle import Count


SCHEMA = 4
# Of five processes the least and the most median hold the true one in 15 of 16 cases. Where they differ by more than
# this part of the median, the times of a row within one process compare with nothing.
UNSTEADY = 0.25


def case_data(tree: Corpus, where: str, model: str, cold: bool, names: Count, found: list[Result]) -> dict:
    """One case for the record."""
    entries = names.files + names.dirs
    return {
        "corpus": tree.name, "what": tree.what, "file_system": where, "model": model, "cold": cold,
        "files": names.files, "dirs": names.dirs, "bytes": names.bytes,
        "results": [_result(result, entries) for result in found],
    }


# What a case says of the conditions of its rows.
CONDITIONS = ("sitting", "began", "seconds", "rounds", "budget_s", "load_before", "others_cpu_share", "runs_repeated",
              "runs_disturbed", "tree_changed_meanwhile")


# Measured in every sitting of a case: rows stand beside each other only where these take the time that they took.
CONTROLS = ("program/floor", "c-getdents")


DRIFT_MAX = 0.1


def key_of_pairs(case: dict) -> tuple[str, str, str]:
    """Tells a case of pairs from others."""
    return case["corpus"], case["file_system"], case["model"]


def drift(case: dict, later: dict) -> float:
    """The share by which a control's time has become another; the largest, and infinite where none has both."""
    then, now = ({r["name"]: r["wall_s"]["median"] for r in found["results"] if "wall_s" in r}
                 for found in (case, later))
    return max((abs(now[name] / then[name] - 1) for name in CONTROLS if name in then and name in now), default=inf)


def too_slow(case: dict, patience_s: float) -> set[str]:
    """The ways of a case that have no time, and may have one with this patience."""
    return {r["name"] for r in case["results"] if r.get("slow_s", patience_s) < patience_s}


def replace_rows(case: dict, later: dict) -> None:
    """Puts rows of a later sitting into a case, where each names its sitting, and the case the conditions of it."""
    rows = {r["name"]: r | {"sitting": later["sitting"]} for r in later["results"] if r["name"] not in CONTROLS}
    case["results"] = [rows.pop(r["name"], r) for r in case["results"]] + list(rows.values())
    conditions = {name: later[name] for name in CONDITIONS}
    case.setdefault("later", []).append(conditions | {"drift": round(drift(case, later), 3)})


def _result(result: Result, entries: int) -> dict:
    data: dict = {"name": result.contestant.name}
    if result.wrong:
        return data | {"wrong": result.wrong}
    if result.unjudged:
        return data | {"unjudged": result.unjudged}
    runs = result.runs
    if result.slow_s is not None:
        return data | {"slow_s": result.slow_s}
    if runs:
        data["wall_s"] = _spread([run.wall_s for run in runs])
        data["cpu_s"] = _spread([run.cpu_s for run in runs])
        data["system_s"] = _spread([run.system_s for run in runs])
        data["max_rss_kib"] = max(run.max_rss_kib for run in runs)
        data["rounds"] = len(runs)
    if result.inner_s:
        data |= _within(result.inner_s)
    if result.calls:
        data["calls_per_entry"] = round(sum(result.calls.values()) / entries, 4)
        data["calls"] = result.calls
    if result.accesses is not None:
        data["accesses"] = result.accesses
    if result.note:
        data["note"] = result.note
    return data


def _within(processes: list[list[float]]) -> dict:
    """Times of rounds within processes: the median of their medians, from the least to the most of these."""
    medians = [statistics.median(times) for times in processes]
    middle, least, most = statistics.median(medians), min(medians), max(medians)
    found = {
        "inner_s": {name: round(value, 8) for name, value in (("median", middle), ("low", least), ("high", most))},
        "inner_medians_s": [round(median, 8) for median in medians],
        "inner_processes": len(processes), "inner_rounds": min(map(len, processes)),
    }
    return found | {"inner_unsteady": True} if most - least > UNSTEADY * middle else found


def _spread(values: list[float]) -> dict[str, float]:
    low, middle, high = quartiles(values)
    found = {"median": middle, "low": low, "high": high, "least": min(values), "most": max(values)}
    return {name: round(value, 6) for name, value in found.items()}


def file(path: Path, suffix: str) -> Path:
    """A file of a record, which is named without suffix."""
    return path.with_name(path.name + suffix)


def find(folder: Path, name: str) -> Path:
    """The record of a name, or the newest that is more than a subset."""
    if name:
        path = folder / Path(name).name.removesuffix(".json").removesuffix(".md")
        if not file(path, ".json").exists():
            sys.exit(f"bench/articles: there is no record {path.name} in {folder}")
        return path
    found = [path for path in folder.glob("*articles*.json") if "quick" not in path.name]
    if not found:
        sys.exit("bench/articles: there is no record yet")
    newest = max(found, key=lambda path: (read(path)["sittings"][-1]["conditions"]["date"], path.name))
    return newest.with_name(newest.name.removesuffix(".json"))


def newest_cases(folder: Path) -> list[dict]:
    """What is known of times before a record has any."""
    if not any("quick" not in path.name for path in folder.glob("*articles*.json")):
        return []
    return read(file(find(folder, ""), ".json"))["cases"]


def sittings(data: dict) -> list[dict]:
    """The conditions under which cases were measured."""
    return data["sittings"]


# --- the file: a line for each sitting, way and case ---------------------------

# What a list in place of a spread holds; a shorter one has the first of them.
SPREAD = ("median", "low", "high", "least", "most")
# How many of them each time keeps: no reader asks for more.
KEPT = {"wall_s": 5, "cpu_s": 3, "system_s": 1, "inner_s": 5}
# What most sittings have in common with the one before: there only the differences are written.
GROWING = ("versions", "sources")
LISTS = ("sittings", "ways", "cases", "pairs")


def read(path: Path) -> dict:
    """A record as `written` has it."""
    data = json.loads(path.read_text())
    if data["schema"] != SCHEMA:
        sys.exit(f"bench/articles: {path.name} has schema {data['schema']}, and {SCHEMA} is what is read")
    before: dict[str, dict] = {name: {} for name in GROWING}
    for sitting in data["sittings"]:
        for name in GROWING:
            now = before[name] | sitting[name]
            sitting[name] = before[name] = {key: value for key, value in now.items() if value is not None}
    for case in data["cases"]:
        for result in case["results"]:
            for name in KEPT.keys() & result.keys():
                result[name] = dict(zip(SPREAD, result[name]))
    return data


def written(data: dict) -> str:
    """The text of a record: JSON, and a line for each part of its lists, so that a difference shows what is new."""
    before: dict[str, dict] = {name: {} for name in GROWING}
    sittings = []
    for sitting in data["sittings"]:
        changes = {name: _changes(before[name], sitting.get(name, {})) for name in GROWING}
        before = {name: sitting.get(name, {}) for name in GROWING}
        sittings.append(sitting | changes)
    packed = data | {"sittings": sittings,
                     "cases": [case | {"results": [*map(_packed, case["results"])]} for case in data["cases"]]}
    parts = [f"{_line(name)}: {_line(value)}" for name, value in packed.items() if name not in LISTS]
    for name in LISTS:
        parts.append(f"{_line(name)}: [\n" + ",\n".join(map(_line, packed.get(name, []))) + "\n]")
    return "{" + ",\n".join(parts) + "}\n"


def _changes(before: dict, now: dict) -> dict:
    gone = {key: None for key in before if key not in now}
    return dict(sorted(({key: value for key, value in now.items() if before.get(key) != value} | gone).items()))


def _packed(result: dict) -> dict:
    spreads = {name: [result[name][key] for key in SPREAD[:KEPT[name]] if key in result[name]]
               for name in KEPT.keys() & result.keys()}
    return result | spreads


def _line(value) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write(path: Path, data: dict) -> None:
    """The record, and all its tables as a page; whoever is interrupted leaves the one before."""
    for suffix, text in ((".json", written(data)), (".md", _page(data))):
        part = file(path, suffix + ".part")
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text)
        part.replace(file(path, suffix))


def _page(data: dict) -> str:
    lines = ["# The articles' experiments: every table", ""]
    for number, sitting in enumerate(data["sittings"]):
        lines += [f"## Conditions of sitting {number}", "", "| what | how |", "|---|---|"]
        lines += [f"| {name} | {text} |" for name, text in sitting["conditions"].items()]
        lines += [f"| limits | {', '.join(f'{name} {value}' for name, value in sitting['limits'].items())} |",
                  f"| engines | {sitting['engines']} |", ""]
        lines += [f"- missing: {text}" for text in sitting["missing"]] + ([""] if sitting["missing"] else [])
    versions = {name: text for sitting in data["sittings"] for name, text in sitting["versions"].items()}
    lines += ["## Ways", "", "| way | article | what | counts | threads | version | remark |",
              "|---|---|---|---|---|---|---|"]
    for way in data["ways"]:
        cells = [way["name"], way["article"] or "", way["what"], way["counts"], way["threads"],
                 versions.get(way["name"], ""), way["remark"]]
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    lines += ["", "## Who is first", "", *ranking.who_is_first(data), "", "## Memory", "",
              "The largest peak of the rounds, in MiB.", "", *_memory(data)]
    for case in data["cases"]:
        lines += ["", f"## {case_table.title(case)}", "", *case_table.conditions_of(case), *case_table.table(case)]
    return "\n".join(lines) + "\n"


def _memory(data: dict) -> list[str]:
    """The largest peak of the rounds."""
    found = (case_table.case_of(data, *place) for place in case_table.compared()["memory"]["cases"])
    cases = [case for case in found if case]
    if not cases:
        return case_table.absent("a tree whose memory is shown")
    peaks: dict[str, list[float | None]] = {}
    for number, case in enumerate(cases):
        for r in case_table.timed(case):
            peaks.setdefault(r["name"], [None] * len(cases))[number] = r["max_rss_kib"] / 1024
    heads = [f"{case['corpus']}: {case['model']}" for case in cases]
    lines = ["| " + " | ".join(["way", *heads]) + " |", "|---" + "|---:" * len(cases) + "|"]
    for name, row in sorted(peaks.items(), key=lambda item: [-(peak or 0) for peak in reversed(item[1])]):
        lines.append(f"| {name} | " + " | ".join(f"{peak:,.1f}" if peak else "–" for peak in row) + " |")
    return lines
