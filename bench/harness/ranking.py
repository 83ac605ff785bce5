# SPDX-License-Identifier: MIT OR Apache-2.0
"""Who is first in each case of the record."""

from . import case_table
from .record import quartiles


def ranked(data: dict) -> list[dict]:
    """The cases of which somebody is first, in the order for readers."""
    left_out = case_table.compared()["first"]["not_ranked"]
    return sorted((case for case in data["cases"] if case["corpus"] not in left_out), key=by_tree)


def best_of(case: dict, own: str = "statwalk") -> tuple[dict, dict, dict] | None:
    """The first, the best of statwalk and the best of the others; the floor is no product."""
    timed = [r for r in case_table.timed(case) if not r["name"].startswith("program/floor")]
    ours = [r for r in timed if own in r["name"]]
    others = [r for r in timed if "statwalk" not in r["name"]]
    return (timed[0], ours[0], others[0]) if ours and others else None


def lead_of(best: tuple[dict, dict, dict]) -> float:
    """The time of the best of the others, divided by that of statwalk's."""
    return best[2]["wall_s"]["median"] / best[1]["wall_s"]["median"]


def by_tree(case: dict) -> tuple:
    """The order of cases for readers: small trees first, and of each what is like it together."""
    return case["files"] + case["dirs"], case["cold"], case["file_system"], case["model"]


def who_is_first(data: dict, is_all: bool = True) -> list[str]:
    """Who is first in each case."""
    cases = ranked(data)
    found = [(case, best) for case in cases if (best := best_of(case))]
    left_out = [case_table.title(case) for case in cases if not best_of(case)]
    if not found:
        return case_table.absent("a case with statwalk and others")
    behind = [case for case, best in found if lead_of(best) < 1]
    library = [best for case in cases if (best := best_of(case, "statwalk/"))]
    lines = [f"statwalk is first in {len(found) - len(behind)} of {len(found)} cases; "
             f"its library alone, which asks the kernel as the others do, in "
             f"{sum(lead_of(best) >= 1 for best in library)} of {len(library)}."
             + (f" Left out, because statwalk has no time there: {'; '.join(left_out)}." if left_out else ""),
             f"The best of the others takes {_leads(found, False)} as long warm, {_leads(found, True)} cold: "
             "the median, and the middle half.", "",
             "| tree | state | model | first | ms | best of statwalk | ms | best of the others | ms "
             "| others ÷ statwalk | share of the processors that others used |",
             "|---|---|---|---|---:|---|---:|---|---:|---:|---:|"]
    for case, best in found:
        if not is_all and case not in behind:
            continue
        first, ours, others = best
        ratio = f"{lead_of(best):.2f}"
        share = case.get("others_cpu_share")
        lines.append(f"| {case['corpus']} on {case['file_system']} | {case_table.state(case)} | {case['model']} "
                     f"| {_shown(first)} | {_shown(ours)} | {_shown(others)} "
                     f"| {f'**{ratio}**' if case in behind else ratio} "
                     f"| {'–' if share is None else f'{share:.1%}'} |")
    return lines


def _shown(r: dict) -> str:
    return f"{case_table.shown_name(r)} | {case_table.shown_ms(r['wall_s'])}"


def _leads(found: list[tuple[dict, tuple]], cold: bool) -> str:
    leads = [lead_of(best) for case, best in found if case["cold"] == cold]
    if not leads:
        return "–"
    low, middle, high = quartiles(leads)
    return f"{middle:.2f} times ({low:.2f} to {high:.2f})"
