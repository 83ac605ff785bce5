# SPDX-License-Identifier: MIT OR Apache-2.0
"""The pictures of RESULTS.md: bars of medians with whiskers, as `page.toml` names them."""

import html
from dataclasses import dataclass

from . import case_table, figure, ranking
from .record import quartiles

WIDTH, LEFT, RIGHT, TOP, STEP, BAR, GAP = 800, 282, 150, 66, 24, 15, 10
# Light and dark, by the scheme of the page that shows them. Colour alone says nothing: names stand beside the bars.
STYLE = """<style>
text { fill: #1f2328; font: 13px sans-serif } .title { font-size: 15px } .dim { fill: #59636e }
.page { fill: #ffffff } .bar { fill: #8db9dd } .ours { fill: #e0885f } .floor { fill: #b1b7be }
.line { stroke: #1f2328; fill: none } .grid { stroke: #d1d9e0 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .dim { fill: #9198a1 } .page { fill: #0d1117 } .bar { fill: #3a6f9f } .ours { fill: #b3592d }
.floor { fill: #59636e } .line { stroke: #e6edf3 } .grid { stroke: #3d444d }
}
</style>"""


@dataclass
class Bar:
    """A median with what the rounds made of it."""

    label: str
    median: float
    # Where the whisker begins and ends; None where there is one number.
    ends: tuple[float, float] | None
    # Of statwalk, of another, or in the colour of the floor: of that, and of an article.
    kind: str
    # Whether a group of bars begins with it.
    is_begin: bool = False


def drawn(data: dict) -> dict[str, str]:
    """All pictures that the record has bars for, by file name."""
    found = {}
    for picture in case_table.compared()["picture"]:
        is_of_leads = picture.get("leads", False)
        bars = _leads(data) if is_of_leads else _bars(picture, data)
        said = picture["said"] if is_of_leads or picture["column"] == "calls" else _said(picture, data)
        if bars:
            unit = "" if is_of_leads else picture.get("unit", " ms")
            found[picture["file"]] = svg(picture["title"], said, bars, picture.get("cut"), unit)
    return found


def _bars(picture: dict, data: dict) -> list[Bar]:
    """The bars of each group: its ways in a case, and numbers of the article. The least first, unless as written."""
    bars: list[Bar] = []
    for group in picture["group"]:
        case = case_table.case_of(data, *_place(group["case"])) if "case" in group else None
        found = [bar for entry in group["bars"] if (bar := _bar(entry, case, picture["column"], data))]
        if not group.get("as_written"):
            found.sort(key=lambda bar: bar.median)
        if bars and found:
            found[0].is_begin = True
        bars += found
    return bars


def _place(words: list[str]) -> tuple[str, str, str, bool]:
    corpus, kind, model, state = words
    return corpus, kind, model, state == "cold"


def _bar(entry: dict, case: dict | None, column: str, data: dict) -> Bar | None:
    """A bar of the article's number, or of a way in the case; none where the record has no such row."""
    if "number" in entry:
        return Bar(entry["label"], entry["number"], None, "floor")
    r = next((r for r in case["results"] if r["name"] == entry["way"]), None) if case else None
    if not case or not r:
        return None
    label = entry["label"] + (f" {case_table.CHANGED}" if r.get("changed") else "")
    kind = "ours" if "statwalk" in r["name"] else "floor" if "floor" in r["name"] else "bar"
    value = figure.quotient(case, column, entry["way"], entry.get("over"), data)
    if not value:
        return None
    if column == "calls" or "over" in entry:
        return Bar(label, value.number, None, kind)
    spread = r[figure.TIMES[column]]
    ends = (spread.get("least", spread["low"]) * 1e3, spread.get("most", spread["high"]) * 1e3)
    return Bar(label, value.number, ends, kind)


def _said(picture: dict, data: dict) -> str:
    """How to read the bars."""
    kind = figure.TIMES[picture["column"]]
    cases = [case_table.case_of(data, *_place(group["case"])) for group in picture["group"] if "case" in group]
    rows = [r for case in cases if case for r in case["results"] if kind in r]
    if kind == "inner_s" and all("inner_processes" in r for r in rows):
        whiskers = "the least and the most of the medians of its processes"
    elif all("least" in r[kind] for r in rows):
        whiskers = "the fastest and slowest round"
    else:
        whiskers = "the middle half of the rounds"
    return f"{picture['said']}; whiskers: {whiskers}"


def _leads(data: dict) -> list[Bar]:
    """How long the best of the others takes beside statwalk's library, over the cases of a question."""
    leads: dict[tuple[str, str], list[float]] = {}
    for case in ranking.ranked(data):
        best = ranking.best_of(case, ranking.LIBRARY)
        if best:
            leads.setdefault((case_table.state(case), case["model"]), []).append(ranking.lead_of(best))
    bars = []
    for (state, model), found in sorted(leads.items(), reverse=True):
        low, middle, high = quartiles(found)
        count = f"{len(found)} case{'s' if len(found) > 1 else ''}"
        bars.append(Bar(f"{state}, {case_table.QUESTIONS[model]} ({count})", middle,
                        (low, high) if len(found) > 1 else None, "bar"))
    return bars


def svg(title: str, said: str, bars: list[Bar], cut: float | None = None, unit: str = " ms") -> str:
    """A picture; bars beyond `cut` end there, with their number beside them."""
    room = WIDTH - LEFT - RIGHT
    most = max(max(bar.median, bar.ends[1] if bar.ends else 0) for bar in bars)
    scale = room / min(most, cut or most)
    height = TOP + STEP * len(bars) + GAP * sum(bar.is_begin for bar in bars) + 14
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}">', STYLE,
           f'<rect class="page" width="{WIDTH}" height="{height}"/>',
           f'<text class="title" x="12" y="24">{html.escape(title)}</text>',
           f'<text class="dim" x="12" y="46">{html.escape(said)}</text>',
           f'<path class="grid" d="M{LEFT} {TOP - 6}V{height - 10}"/>']
    if not unit:
        # Ratios are read against one.
        out.append(f'<path class="grid" d="M{LEFT + scale:.1f} {TOP - 6}V{height - 10}"/>')
    below = TOP
    for bar in bars:
        y = below + GAP * bar.is_begin
        below = y + STEP
        middle, width = y + BAR / 2, min(bar.median * scale, room)
        out.append(f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{html.escape(bar.label)}</text>'
                   f'<rect class="{bar.kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}"/>')
        behind = width
        if cut and bar.median > cut:
            # A bar that goes on.
            out.append(f'<path class="line" d="M{LEFT + width - 14:.1f} {y - 3}l-5 {BAR + 6}m7 0l5 -{BAR + 6}"/>')
        elif bar.ends:
            low, high = (LEFT + min(end * scale, room) for end in bar.ends)
            out.append(f'<path class="line" d="M{low:.1f} {middle}H{high:.1f}'
                       f'M{low:.1f} {middle - 4}v8M{high:.1f} {middle - 4}v8"/>')
            behind = max(width, high - LEFT)
        out.append(f'<text x="{LEFT + behind + 8:.1f}" y="{y + 12}">{case_table.shown_number(bar.median)}{unit}</text>')
    return "\n".join([*out, "</svg>", ""])
