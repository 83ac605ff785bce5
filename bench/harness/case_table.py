# SPDX-License-Identifier: MIT OR Apache-2.0
"""A case of the record as a table."""

import tomllib
from collections.abc import Callable
from functools import cache

from . import agenda
from .programs import BENCH

# Marks a row whose way has become another program since.
CHANGED = "†"
# Marks a time within one process where the processes of a way differ by a quarter.
UNSTEADY = "‡"
STATES = ("warm", "cold")
# A model, as a reader asks.
QUESTIONS = {"size": "sizes", "count": "names", "records": "records", "directory": "one directory"}


@cache
def compared() -> dict:
    """What `page.toml` says."""
    return tomllib.loads((BENCH / "page.toml").read_text())


def shown_name(r: dict) -> str:
    """The name of a row, with the mark of one whose program has changed."""
    return f"{r['name']} {CHANGED}" if r.get("changed") else r["name"]


def title(case: dict) -> str:
    """A case by name."""
    return f"{case['corpus']} on {case['file_system']}, {'cold' if case['cold'] else 'warm'}: {case['model']}"


def state(case: dict) -> str:
    """Whether anything was in memory."""
    return STATES[case["cold"]]


def conditions_of(case: dict) -> list[str]:
    """Under which conditions a case was measured."""
    if "sitting" not in case:
        return []
    share = f"{case['others_cpu_share']:.1%} of the processors"
    others = f"others and the kernel's own threads used {share}" if case["cold"] else (
        f"others used {share}; {case['runs_repeated']} runs were repeated, {case['runs_disturbed']} count although "
        "disturbed")
    changed = ["**The tree changed while it was measured.**", ""] if case["tree_changed_meanwhile"] else []
    later = [line for one in case.get("later", []) for line in conditions_of(one | {"cold": case["cold"]})]
    return [f"Sitting {case['sitting']}, begun {case['began']}, {case['seconds']} s. Up to {case['rounds']} rounds, "
            f"{case['budget_s']:g} s for each way; {others}.", "", *changed, *later]


def shown_ms(spread: dict | None) -> str:
    """A median in milliseconds, with three digits or more."""
    return shown_number(spread["median"] * 1e3) if spread else "–"


def shown_within(r: dict | None) -> str:
    """The time within one process."""
    return shown_ms(r and r.get("inner_s")) + (f" {UNSTEADY}" if r and r.get("inner_unsteady") else "")


def shown_number(number: float) -> str:
    """A number with three digits or more."""
    return f"{number:,.2f}" if number < 10 else f"{number:,.1f}" if number < 100 else f"{number:,.0f}"


def timed(case: dict) -> list[dict]:
    """Those with a time, the fastest first."""
    found = [r for r in case["results"] if "wall_s" in r and not r["name"].endswith("/nothing")]
    return sorted(found, key=lambda r: r["wall_s"]["median"])


def _floor(case: dict) -> float | None:
    floors = [r["wall_s"]["median"] for r in case["results"] if r["name"] == "program/floor" and "wall_s" in r]
    if not floors:
        floors = [r["wall_s"]["median"] for r in case["results"] if r["name"] == "c-getdents" and "wall_s" in r]
    return floors[0] if floors else None


def case_of(data: dict, corpus: str, kind: str, model: str, cold: bool = False) -> dict | None:
    """A case of the record, if it is there."""
    wanted = (corpus, kind, model, cold)
    return next((case for case in data["cases"] if agenda.key(case) == wanted), None)


def absent(what: str) -> list[str]:
    """A sentence in place of a table."""
    return [f"Not in the record yet: {what}."]


def table(case: dict, wanted: Callable[[str], bool] = lambda name: True) -> list[str]:
    """One case, sorted by time."""
    lines = [f"{case['files']:,} files, {case['dirs']:,} directories: {case['what']}.", "",
             "| way | wall ms | quartiles | CPU ms | × floor | within one process ms | RSS MiB | calls an entry | rounds |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    floor = _floor(case)
    for r in (r for r in timed(case) if wanted(r["name"])):
        times = f"{r['wall_s']['median'] / floor:.2f}" if floor else "–"
        calls = f"{r['calls_per_entry']:.2f}" if "calls_per_entry" in r else "–"
        spread = f"{r['wall_s']['low'] * 1e3:,.1f} … {r['wall_s']['high'] * 1e3:,.1f}"
        sitting = f", sitting {r['sitting']}" if "sitting" in r else ""
        lines.append(f"| {shown_name(r)} | {shown_ms(r['wall_s'])} | {spread} | {shown_ms(r['cpu_s'])} | {times} "
                     f"| {shown_within(r)} | {r['max_rss_kib'] / 1024:,.1f} | {calls} "
                     f"| {r['rounds']}{sitting} |")
    reasons = [(r["name"], no_time(r)) for r in case["results"] if wanted(r["name"])]
    left_out = [f"- {name}: {reason}" for name, reason in reasons if reason]
    return [*lines, "", "No time:", "", *left_out] if left_out else lines


def no_time(r: dict) -> str | None:
    """Why a row has no time."""
    if "slow_s" in r:
        return f"a run takes more than {r['slow_s']:g} s, too long for five rounds"
    return r.get("wrong") or r.get("unjudged")
