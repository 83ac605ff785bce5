# SPDX-License-Identifier: MIT OR Apache-2.0
"""The pictures of RESULTS.md: bars of medians with whiskers, as `page.toml` names them."""

import html
from dataclasses import dataclass
from pathlib import Path

from . import case_table, ranking
from .record import quartiles
from .walker import fits

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
    # Of statwalk, of the floor, or of another.
    kind: str
    # Whether a group of bars begins with it.
    is_begin: bool = False


def draw(folder: Path, data: dict) -> None:
    """Draws all that the record has bars for."""
    folder.mkdir(exist_ok=True)
    for picture in case_table.compared()["picture"]:
        bars = _leads(data) if picture.get("leads") else _times(picture, data)
        said = picture["said"] if picture.get("leads") else _said(picture, data)
        if bars:
            unit = "" if picture.get("leads") else " ms"
            (folder / picture["file"]).write_text(svg(picture["title"], said, bars, picture.get("cut"), unit))


def _times(picture: dict, data: dict) -> list[Bar]:
    """The times of some ways in some cases: those of a case together, the fastest first."""
    bars = []
    for group in picture["group"]:
        corpus, kind, model, state = group["case"]
        case = case_table.case_of(data, corpus, kind, model, state == "cold")
        time = picture["time"]
        ways = ",".join(group["ways"])
        rows = [r for r in case_table.timed(case) if time in r and fits(r["name"], ways)] if case else []
        begin = len(bars)
        for r in sorted(rows, key=lambda r: r[time]["median"]):
            name = r["name"].removeprefix("program/")
            label = group.get("label", "{way}").replace("{way}", name)
            bars.append(_bar(label + (f" {case_table.CHANGED}" if r.get("changed") else ""), r, time))
        if 0 < begin < len(bars):
            bars[begin].is_begin = True
    return bars


def _bar(label: str, r: dict, time: str) -> Bar:
    spread = r[time]
    ends = (spread.get("least", spread["low"]) * 1e3, spread.get("most", spread["high"]) * 1e3)
    kind = "ours" if "statwalk" in r["name"] else "floor" if "floor" in r["name"] else "bar"
    return Bar(label, spread["median"] * 1e3, ends, kind)


def _said(picture: dict, data: dict) -> str:
    """How to read the bars."""
    spreads = [r[picture["time"]] for case in data["cases"] for r in case["results"] if picture["time"] in r]
    whiskers = "the fastest and slowest round" if all("least" in s for s in spreads) else "the middle half of the rounds"
    return f"{picture['said']}; whiskers: {whiskers}"


def _leads(data: dict) -> list[Bar]:
    """How long the best of the others takes beside the best of statwalk, over the cases of a question."""
    leads: dict[tuple[str, str], list[float]] = {}
    for case in ranking.ranked(data):
        best = ranking.best_of(case)
        if best:
            leads.setdefault((case_table.state(case), case["model"]), []).append(ranking.lead_of(best))
    bars = []
    for (state, model), found in sorted(leads.items(), reverse=True):
        low, middle, high = quartiles(found)
        count = f"{len(found)} case{'s' if len(found) > 1 else ''}"
        bars.append(Bar(f"{state}, {model} ({count})", middle, (low, high) if len(found) > 1 else None, "bar"))
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
        out.append(f'<text x="{LEFT + behind + 8:.1f}" y="{y + 12}">{_shown(bar.median)}{unit}</text>')
    return "\n".join([*out, "</svg>", ""])


def _shown(number: float) -> str:
    return f"{number:,.2f}" if number < 10 else f"{number:,.1f}" if number < 100 else f"{number:,.0f}"
