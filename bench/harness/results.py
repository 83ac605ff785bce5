# SPDX-License-Identifier: MIT OR Apache-2.0
"""The record of the articles' experiments."""

import json
import sys
from math import inf
from pathlib import Path

from . import case_table, ranking
from .contest import Result
from .corpus import Corpus
from .record import quartiles
from .walk_oracle import Count


SCHEMA = 3


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
        data["inner_s"] = _spread(result.inner_s)
        data["inner_rounds"] = len(result.inner_s)
    if result.calls:
        data["calls_per_entry"] = round(sum(result.calls.values()) / entries, 4)
        data["calls"] = result.calls
    if result.note:
        data["note"] = result.note
    return data


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
    newest = max(found, key=lambda path: (sittings(json.loads(path.read_text()))[-1]["conditions"]["date"], path.name))
    return newest.with_name(newest.name.removesuffix(".json"))


def newest_cases(folder: Path) -> list[dict]:
    """What is known of times before a record has any."""
    if not any("quick" not in path.name for path in folder.glob("*articles*.json")):
        return []
    return json.loads(file(find(folder, ""), ".json").read_text())["cases"]


def sittings(data: dict) -> list[dict]:
    """The conditions under which cases were measured; before schema 2 a record had one sitting."""
    if "sittings" in data:
        return data["sittings"]
    versions = {way["name"]: way["version"] for way in data["ways"]}
    return [{"conditions": data["conditions"], "limits": data["limits"], "engines": "all", "versions": versions,
             "missing": data["missing"]}]


def write(path: Path, data: dict) -> None:
    """The record, and all its tables as a page; whoever is interrupted leaves the one before."""
    for suffix, text in ((".json", json.dumps(data, indent=1) + "\n"), (".md", _page(data))):
        part = file(path, suffix + ".part")
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text)
        part.replace(file(path, suffix))


def _page(data: dict) -> str:
    lines = ["# The articles' experiments: every table", ""]
    for number, sitting in enumerate(sittings(data)):
        lines += [f"## Conditions of sitting {number}", "", "| what | how |", "|---|---|"]
        lines += [f"| {name} | {text} |" for name, text in sitting["conditions"].items()]
        lines += [f"| limits | {', '.join(f'{name} {value}' for name, value in sitting['limits'].items())} |",
                  f"| engines | {sitting['engines']} |", ""]
        lines += [f"- missing: {text}" for text in sitting["missing"]] + ([""] if sitting["missing"] else [])
    versions = {name: text for sitting in sittings(data) for name, text in sitting["versions"].items()}
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
