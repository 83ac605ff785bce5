# SPDX-License-Identifier: MIT OR Apache-2.0
"""The record of the articles' experiments, and the tables and plots of RESULTS.md."""

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

from .contest import Result
from .corpus import Corpus
from .record import quartiles
from .walk_oracle import Count


def case_data(tree: Corpus, where: str, model: str, cold: bool, names: Count, found: list[Result]) -> dict:
    """One case for the record."""
    entries = names.files + names.dirs
    return {
        "corpus": tree.name, "what": tree.what, "file_system": where, "model": model, "cold": cold,
        "files": names.files, "dirs": names.dirs, "bytes": names.bytes,
        "results": [_result(result, entries) for result in found],
    }


def _result(result: Result, entries: int) -> dict:
    data: dict = {"name": result.contestant.name}
    if result.wrong:
        return data | {"wrong": result.wrong}
    if result.unjudged:
        return data | {"unjudged": result.unjudged}
    runs = [run for run in result.runs if run]
    if runs:
        data["wall_s"] = _spread([run.wall_s for run in runs])
        data["cpu_s"] = _spread([run.cpu_s for run in runs])
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
    return {"median": round(middle, 6), "low": round(low, 6), "high": round(high, 6)}


def write(path: Path, data: dict) -> None:
    """The record, and all its tables as a page."""
    path.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
    lines = ["# The articles' experiments: every table", "", "## Conditions", "", "| what | how |", "|---|---|"]
    lines += [f"| {name} | {text} |" for name, text in data["conditions"].items()]
    if data["missing"]:
        lines += ["", "Missing:", "", *(f"- {text}" for text in data["missing"])]
    lines += ["", "## Ways", "", "| way | article | what | counts | threads | version | remark |",
              "|---|---|---|---|---|---|---|"]
    for way in data["ways"]:
        cells = [way["name"], way["article"] or "", way["what"], way["counts"], way["threads"], way["version"],
                 way["remark"]]
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    for case in data["cases"]:
        lines += ["", f"## {_title(case)}", "", *table(case)]
    path.with_suffix(".md").write_text("\n".join(lines) + "\n")


def _title(case: dict) -> str:
    return f"{case['corpus']} on {case['file_system']}, {'cold' if case['cold'] else 'warm'}: {case['model']}"


def _ms(spread: dict | None) -> str:
    if not spread:
        return "–"
    ms = spread["median"] * 1e3
    return f"{ms:,.2f}" if ms < 10 else f"{ms:,.1f}" if ms < 100 else f"{ms:,.0f}"


def _timed(case: dict) -> list[dict]:
    """Those with a time, the fastest first."""
    found = [r for r in case["results"] if "wall_s" in r and not r["name"].endswith("/nothing")]
    return sorted(found, key=lambda r: r["wall_s"]["median"])


def _floor(case: dict) -> float | None:
    floors = [r["wall_s"]["median"] for r in case["results"] if r["name"] == "program/floor" and "wall_s" in r]
    if not floors:
        floors = [r["wall_s"]["median"] for r in case["results"] if r["name"] == "c-getdents" and "wall_s" in r]
    return floors[0] if floors else None


def table(case: dict, wanted: Callable[[str], bool] = lambda name: True) -> list[str]:
    """One case, sorted by time."""
    lines = [f"{case['files']:,} files, {case['dirs']:,} directories: {case['what']}.", "",
             "| way | wall ms | quartiles | CPU ms | × floor | within one process ms | RSS MiB | calls an entry | rounds |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    floor = _floor(case)
    for r in (r for r in _timed(case) if wanted(r["name"])):
        times = f"{r['wall_s']['median'] / floor:.2f}" if floor else "–"
        calls = f"{r['calls_per_entry']:.2f}" if "calls_per_entry" in r else "–"
        spread = f"{r['wall_s']['low'] * 1e3:,.1f} … {r['wall_s']['high'] * 1e3:,.1f}"
        lines.append(f"| {r['name']} | {_ms(r['wall_s'])} | {spread} | {_ms(r['cpu_s'])} | {times} "
                     f"| {_ms(r.get('inner_s'))} | {r['max_rss_kib'] / 1024:,.1f} | {calls} | {r['rounds']} |")
    left_out = [r for r in case["results"] if ("wrong" in r or "unjudged" in r) and wanted(r["name"])]
    if left_out:
        lines += ["", "No time:", ""]
        lines += [f"- {r['name']}: {r.get('wrong') or r.get('unjudged')}" for r in left_out]
    return lines


# --- RESULTS.md ------------------------------------------------------------

def fill_page(page: Path, record: str, data: dict) -> None:
    """Puts the tables between their marks; what stands around them is written by hand."""
    text = page.read_text()
    text = re.sub(r"(<!-- table: ([^>]+) -->\n).*?(<!-- end -->)",
                  lambda m: m[1] + "\n".join(_section(m[2].strip(), record, data)) + "\n" + m[3], text, flags=re.S)
    page.write_text(text)
    pictures = page.parent / "pictures"
    pictures.mkdir(exist_ok=True)
    for case in data["cases"]:
        if case["corpus"] == "music" and case["model"] == "size" and not case["cold"]:
            (pictures / f"calls-{case['model']}.svg").write_text(_scatter(case))


def _section(name: str, record: str, data: dict) -> list[str]:
    """`conditions`, `first`, `cold`, or a case as `CORPUS FILE-SYSTEM MODEL [PREFIX …]`."""
    if name == "conditions":
        shown = ("date", "kernel", "processor", "memory", "mitigations", "statwalk commit")
        return [f"Record: `record/{record}.md` and `.json`.", "", "| what | how |", "|---|---|",
                *(f"| {key} | {data['conditions'].get(key, '')} |" for key in shown),
                *(f"| missing | {text} |" for text in data["missing"])]
    if name == "first":
        return _first(data)
    if name == "calls":
        return _calls(data)
    corpus, cold, model, *prefixes = name.split()
    for case in data["cases"]:
        if case["corpus"] == corpus and case["model"] == model and _fits(case, cold):
            heads = tuple(prefixes)
            return table(case, lambda way: not heads or way.startswith(heads) or way == "program/floor")
    return [f"Not in record {record}."]


def _fits(case: dict, where: str) -> bool:
    """`warm` is the first case of a tree; `cold:xfs` and `warm:xfs` name the file system."""
    state, _, kind = where.partition(":")
    return case["cold"] == (state == "cold") and (not kind or case["file_system"] == kind)


def _first(data: dict) -> list[str]:
    """Who is first on each tree, without the floor, which is no product."""
    lines = ["| tree | state | model | first | ms | best of statwalk | ms | best of the others | ms | others ÷ statwalk |",
             "|---|---|---|---|---:|---|---:|---|---:|---:|"]
    for case in data["cases"]:
        timed = [r for r in _timed(case) if not r["name"].startswith("program/floor")]
        ours = [r for r in timed if "statwalk" in r["name"]]
        others = [r for r in timed if "statwalk" not in r["name"]]
        if not ours or not others:
            continue
        ratio = others[0]["wall_s"]["median"] / ours[0]["wall_s"]["median"]
        state = "cold" if case["cold"] else "warm"
        lines.append(f"| {case['corpus']} on {case['file_system']} | {state} | {case['model']} | {timed[0]['name']} "
                     f"| {_ms(timed[0]['wall_s'])} | {ours[0]['name']} | {_ms(ours[0]['wall_s'])} "
                     f"| {others[0]['name']} | {_ms(others[0]['wall_s'])} | {ratio:.2f} |")
    return lines


def _calls(data: dict) -> list[str]:
    """System calls by name, on the smallest tree where they were counted."""
    lines = ["| way | calls an entry | by name |", "|---|---:|---|"]
    for case in data["cases"]:
        if case["corpus"] != "music" or case["cold"] or case["model"] != "size":
            continue
        entries = case["files"] + case["dirs"]
        found = [r for r in case["results"] if "calls" in r]
        for r in sorted(found, key=lambda r: r["calls_per_entry"]):
            named = ", ".join(f"{name} {count / entries:.2f}" for name, count in list(r["calls"].items())[:5])
            lines.append(f"| {r['name']} | {r['calls_per_entry']:.2f} | {named} |")
    return lines


def _scatter(case: dict) -> str:
    """Calls an entry against time within one process, both on logarithmic axes."""
    from math import floor, log10
    points = [(r["name"], r["calls_per_entry"], (r.get("inner_s") or r["wall_s"])["median"] * 1e3)
              for r in _timed(case) if r.get("calls_per_entry", 0) > 0]
    points = [point for point in points if point[2] > 0]
    if not points:
        return "<svg xmlns='http://www.w3.org/2000/svg'/>\n"
    width, height, left, bottom = 900, 560, 70, 50
    x_low, x_high = floor(log10(min(p[1] for p in points))), log10(max(p[1] for p in points)) + 0.1
    y_low, y_high = floor(log10(min(p[2] for p in points))), log10(max(p[2] for p in points)) + 0.1

    def x(value: float) -> float:
        return left + (log10(value) - x_low) / (x_high - x_low) * (width - left - 130)

    def y(value: float) -> float:
        return height - bottom - (log10(value) - y_low) / (y_high - y_low) * (height - bottom - 40)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
           'font-size="11">', f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           f'<text x="{left}" y="22" font-size="14">{html.escape(_title(case))}: system calls an entry and time</text>']
    for exponent in range(x_low, floor(x_high) + 1):
        at = x(10.0**exponent)
        out.append(f'<path d="M{at:.1f} 40V{height - bottom}" stroke="#dddddd"/>'
                   f'<text x="{at:.1f}" y="{height - bottom + 16}" text-anchor="middle">{10.0**exponent:g}</text>')
    for exponent in range(y_low, floor(y_high) + 1):
        at = y(10.0**exponent)
        out.append(f'<path d="M{left} {at:.1f}H{width - 130}" stroke="#dddddd"/>'
                   f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**exponent:g} ms</text>')
    out.append(f'<text x="{(width - 60) / 2}" y="{height - 12}" text-anchor="middle">system calls an entry</text>')
    for name, calls, ms in sorted(points):
        colour = "#c0392b" if "statwalk" in name else "#222222" if "floor" in name else "#2c6fb0"
        out.append(f'<circle cx="{x(calls):.1f}" cy="{y(ms):.1f}" r="3" fill="{colour}">'
                   f'<title>{html.escape(name)}: {calls:.2f} calls, {ms:.2f} ms</title></circle>'
                   f'<text x="{x(calls) + 5:.1f}" y="{y(ms) + 3:.1f}" font-size="8" fill="{colour}">'
                   f'{html.escape(name)}</text>')
    return "\n".join([*out, "</svg>", ""])
