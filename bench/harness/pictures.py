# SPDX-License-Identifier: MIT OR Apache-2.0
"""The pictures of RESULTS.md."""

import html
from pathlib import Path

from . import case_table, ranking


def draw(folder: Path, data: dict) -> None:
    """Draws them all."""
    folder.mkdir(exist_ok=True)
    (folder / "first.svg").write_text(_strips(data))


def _strips(data: dict) -> str:
    """Each case a line, each way a mark: its time divided by the best of statwalk's."""
    from math import floor, log10
    rows = []
    for case in ranking.ranked(data):
        best = ranking.best_of(case)
        if best:
            base = best[1]["wall_s"]["median"]
            rows.append((case_table.title(case), [(r["name"], r["wall_s"]["median"] / base) for r in case_table.timed(case)]))
    if not rows:
        return "<svg xmlns='http://www.w3.org/2000/svg'/>\n"
    step, left, top, width = 16, 220, 50, 960
    height = top + step * len(rows) + 30
    low = log10(min(ratio for _, marks in rows for _, ratio in marks)) - 0.05
    high = log10(max(ratio for _, marks in rows for _, ratio in marks)) + 0.05

    def x(ratio: float) -> float:
        return left + (log10(ratio) - low) / (high - low) * (width - left - 20)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
           'font-size="11">', f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           '<text x="10" y="20" font-size="14">Time divided by the best of statwalk: each mark is a way to walk</text>',
           '<text x="10" y="36" fill="#555555">red: statwalk; black: the floor, no product; blue: the others</text>']
    for exponent in range(floor(low), floor(high) + 1):
        for factor in (1, 2, 5):
            ratio = factor * 10.0**exponent
            if low <= log10(ratio) <= high:
                colour = "#999999" if ratio == 1 else "#e4e4e4"
                out.append(f'<path d="M{x(ratio):.1f} {top - 6}V{height - 26}" stroke="{colour}"/>'
                           f'<text x="{x(ratio):.1f}" y="{height - 10}" text-anchor="middle">{ratio:g}</text>')
    for number, (title, marks) in enumerate(rows):
        y = top + step * number + step / 2
        out.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" font-size="10">{html.escape(title)}</text>')
        strokes = "".join(f"M{x(ratio):.0f} {y - 4:.0f}v8" for name, ratio in marks if not _stands_out(name))
        out.append(f'<path d="{strokes}" stroke="#2c6fb0" stroke-opacity="0.6"/>')
        best = next((mark for mark in marks if not _stands_out(mark[0])), None)
        for name, ratio in [*([best] if best else []), *(mark for mark in marks if _stands_out(mark[0]))]:
            colour = "#c0392b" if "statwalk" in name else "#222222" if "floor" in name else "#2c6fb0"
            out.append(f'<circle cx="{x(ratio):.0f}" cy="{y:.0f}" r="3" fill="{colour}">'
                       f'<title>{html.escape(name)}: {ratio:.2f}</title></circle>')
    return "\n".join([*out, "</svg>", ""])


def _stands_out(name: str) -> bool:
    return "statwalk" in name or name.startswith("program/floor")
