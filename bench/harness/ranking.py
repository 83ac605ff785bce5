# SPDX-License-Identifier: MIT OR Apache-2.0
"""Who is first in each case of the record."""

from . import case_table
from .record import quartiles

# What a user gets who chooses nothing: other orders are ways of the bench, and no answer to who is first.
# The library asks the kernel alone. The program may read ext4 and btrfs below system calls.
LIBRARY = ("statwalk/parallel",)
OWN = ("program/statwalk", *LIBRARY)


def ranked(data: dict) -> list[dict]:
    """The cases of which somebody is first, in the order for readers."""
    left_out = case_table.compared()["first"]["not_ranked"]
    return sorted((case for case in data["cases"] if case["corpus"] not in left_out), key=by_tree)


def best_of(case: dict, own: tuple[str, ...] = OWN) -> tuple[dict, dict, dict] | None:
    """The first, the best of statwalk and the best of the others; the floor is no product."""
    timed = [r for r in case_table.timed(case) if not r["name"].startswith("program/floor")]
    ours = [r for r in timed if r["name"] in own]
    others = [r for r in timed if "statwalk" not in r["name"]]
    return (timed[0], ours[0], others[0]) if ours and others else None


def lead_of(best: tuple[dict, dict, dict]) -> float:
    """The time of the best of the others, divided by that of statwalk's."""
    return best[2]["wall_s"]["median"] / best[1]["wall_s"]["median"]


def by_tree(case: dict) -> tuple:
    """The order of cases for readers: small trees first, and of each what is like it together."""
    return case["files"] + case["dirs"], case["cold"], case["file_system"], case["model"]


def summary(data: dict) -> list[str]:
    """In how many cases statwalk is first, by how much, and the cases where it is not."""
    cases = ranked(data)
    found = [(case, best) for case in cases if (best := best_of(case))]
    library = [(case, best) for case in cases if (best := best_of(case, LIBRARY))]
    if not found:
        return case_table.absent("a case with statwalk and others")
    left_out = [case_table.title(case) for case in cases if not best_of(case)]
    unranked = [(case, best) for case in data["cases"] if case not in cases and (best := best_of(case))]
    lines = [_how_often(found, library)
             + _not_ranked(unranked)
             + (f" Left out, because statwalk has no time there: {'; '.join(left_out)}." if left_out else ""), "",
             "| the best of the others ÷ statwalk: median (middle half) | cases | the program or its library | its library | the library is first |",
             "|---|---:|---:|---:|---:|"]
    for cold in (False, True):
        for model in ("size", "count", "records", "directory"):
            leads, own = (_leads(one, cold, model) for one in (found, library))
            # One case is no middle: it is among all.
            if len(leads) > 1:
                lines.append(f"| {case_table.STATES[cold]}, {case_table.QUESTIONS[model]} | {len(leads)} "
                             f"| {_middle(leads)} | {_middle(own)} | {sum(lead >= 1 for lead in own)} of {len(own)} |")
        leads, own = (_leads(one, cold) for one in (found, library))
        if leads:
            lines.append(f"| **{case_table.STATES[cold]}, all** | {len(leads)} | **{_middle(leads)}** | **{_middle(own)}** "
                         f"| {sum(lead >= 1 for lead in own)} of {len(own)} |")
    behind = [(case, best) for case, best in found if lead_of(best) < 1]
    if behind:
        lines += ["", "| statwalk is not first | state | question | best of the others | ms | best of statwalk | ms | others ÷ statwalk "
                  "| others used |", "|---|---|---|---|---:|---|---:|---:|---:|"]
        for case, best in behind:
            lines.append(f"| {case['corpus']} on {case['file_system']} | {case_table.state(case)} "
                         f"| {case_table.QUESTIONS[case['model']]} | {_shown(best[2])} | {_shown(best[1])} "
                         f"| {lead_of(best):.2f} | {case.get('others_cpu_share', 0):.1%} |")
    return lines


def _how_often(found: list, library: list) -> str:
    ahead = sum(lead_of(best) >= 1 for _, best in found)
    clearly, behind = (sum(is_apart(*pair) for pair in pairs) for pairs in (
        [(best[1], best[2]) for _, best in found], [(best[2], best[1]) for _, best in found]))
    return (f"statwalk is first in {ahead} of {len(found)} cases, with default settings. The quartiles are apart in {clearly} of those, "
            f"and in {behind} where it is not first. Its library alone, which asks the kernel as the others do, is first in "
            f"{sum(lead_of(best) >= 1 for _, best in library)} of {len(library)}.")


def _not_ranked(unranked: list) -> str:
    """The cases that tell nothing of who is first, with the lead that they would have."""
    if not unranked:
        return ""
    leads = ", ".join(f"{case['corpus']} ({lead_of(best):.2f})" for case, best in unranked)
    return f" Not ranked, with the ratio of the table: {leads}; {case_table.compared()['first']['why']}."


def is_apart(first: dict, second: dict) -> bool:
    """Whether the middle half of the runs of the first is below that of the second."""
    return first["wall_s"]["high"] < second["wall_s"]["low"]


def who_is_first(data: dict) -> list[str]:
    """Who is first in each case."""
    found = [(case, best) for case in ranked(data) if (best := best_of(case))]
    if not found:
        return case_table.absent("a case with statwalk and others")
    lines = [*summary(data), "",
             "| tree | state | model | first | ms | best of statwalk | ms | best of the others | ms "
             "| others ÷ statwalk | others ÷ library | share of the processors that others used |",
             "|---|---|---|---|---:|---|---:|---|---:|---:|---:|---:|"]
    for case, best in found:
        first, ours, others = best
        ratio, own = f"{lead_of(best):.2f}", best_of(case, LIBRARY)
        share = case.get("others_cpu_share")
        lines.append(f"| {case['corpus']} on {case['file_system']} | {case_table.state(case)} | {case['model']} "
                     f"| {_shown(first)} | {_shown(ours)} | {_shown(others)} "
                     f"| {f'**{ratio}**' if lead_of(best) < 1 else ratio} | {f'{lead_of(own):.2f}' if own else '–'} "
                     f"| {'–' if share is None else f'{share:.1%}'} |")
    return lines


def _shown(r: dict) -> str:
    return f"{case_table.shown_name(r)} | {case_table.shown_ms(r['wall_s'])}"


def _leads(found: list[tuple[dict, tuple]], cold: bool, model: str | None = None) -> list[float]:
    return [lead_of(best) for case, best in found if case["cold"] == cold and model in (None, case["model"])]


def _middle(leads: list[float]) -> str:
    """The median, and the middle half."""
    if not leads:
        return "–"
    low, middle, high = quartiles(leads)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})" if len(leads) > 1 else f"{middle:.2f}"
