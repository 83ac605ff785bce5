# SPDX-License-Identifier: MIT OR Apache-2.0
"""The record of a comparison: JSON with every run, Markdown to read."""

import json
import statistics
from pathlib import Path

from .call_rates import Tree
from .comparison import Case, Outcome
from .measurement import Run
from .startup import Startup


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """First quartile, median, third quartile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def _spread(values: list[float], factor: float = 1.0) -> dict[str, float]:
    low, middle, high = quartiles(values)
    numbers = {"median": middle, "low": low, "high": high, "min": min(values), "max": max(values)}
    return {name: round(number * factor, 6) for name, number in numbers.items()}


def _ratios(runs: list[Run | None], base: list[Run | None], cost) -> list[float]:
    """Ratios within a round, so that what slowed a round slowed both."""
    return [cost(a) / cost(b) for a, b in zip(runs, base) if a and b and cost(b) > 0]


def _outcome(outcome: Outcome, base: Outcome | None) -> dict:
    timed = outcome.timed()
    result: dict = {
        "engine": outcome.engine.name,
        "command": outcome.engine.shown(outcome.variant),
        "answer": "wrong" if outcome.wrong else "right" if outcome.checkable else "not checkable",
        "notes": list(dict.fromkeys(outcome.note)),
        "tuning_wall_s": {name: round(wall, 6) for name, wall in outcome.tuning.items()},
    }
    if outcome.wrong:
        result["wrong"] = outcome.wrong
    if timed:
        result["wall_s"] = _spread([run.wall_s for run in timed])
        result["cpu_s"] = _spread([run.cpu_s for run in timed])
        result["max_rss_kib"] = max(run.max_rss_kib for run in timed)
        result["runs"] = [
            [round(run.wall_s, 6), round(run.cpu_s, 6), run.max_rss_kib] if run else None for run in outcome.runs
        ]
    if timed and base:
        for name, cost in (("wall_ratio", lambda r: r.wall_s), ("cpu_ratio", lambda r: r.cpu_s)):
            ratios = _ratios(outcome.runs, base.runs, cost)
            if ratios:
                result[name] = _spread(ratios)
    return result


def case_data(case: Case, file_system: str, names_in_memory: int) -> dict:
    """One case for the JSON record."""
    base = next((o for o in case.outcomes if o.engine.name == case.base), None)
    return {
        "corpus": case.corpus.name,
        "what": case.corpus.what,
        "file_system": file_system,
        "names_in_memory": names_in_memory,
        "question": case.question,
        "right_answer": case.answer.as_dict(),
        "base": case.base,
        "others_cpu_share": round(case.others_cpu_share, 3),
        "runs_repeated": case.repeated,
        "runs_disturbed": case.disturbed,
        "load_before": round(case.load_before, 2),
        "tree_changed_meanwhile": case.changed,
        "engines": [_outcome(o, base) for o in case.outcomes],
    }


def startup_data(startup: Startup) -> dict:
    """One start-up case for the JSON record."""
    base = "statwalk" if "statwalk" in startup.runs else "du"
    engines = {}
    for name, runs in startup.runs.items():
        if name in startup.wrong:
            engines[name] = {"wrong": startup.wrong[name]}
            continue
        engines[name] = {
            "wall_s": _spread([run.wall_s for run in runs]),
            "cpu_s": _spread([run.cpu_s for run in runs]),
            "max_rss_kib": max(run.max_rss_kib for run in runs),
        }
        if base not in startup.wrong and base in startup.runs:
            engines[name]["wall_ratio"] = _spread(_ratios(runs, startup.runs[base], lambda r: r.wall_s))
    return {"case": startup.what, "base": base, "runs": max(map(len, startup.runs.values())), "engines": engines}


def calls_data(tree: Tree) -> dict:
    """The system calls on one tree for the JSON record."""
    engines = []
    for rates in tree.rates:
        engine: dict = {"engine": rates.engine.name, "command": rates.command}
        if rates.missing:
            engine["missing"] = rates.missing
        else:
            engine["calls_per_entry"] = round(sum(rates.by_name.values()), 4)
            engine["by_name"] = {name: round(rate, 4) for name, rate in rates.by_name.items() if rate >= 0.0001}
        engines.append(engine)
    return {"tree": tree.shape.name, "question": tree.question, "entries": tree.entries, "engines": engines}


def growth_data(cases: list[dict]) -> list[dict]:
    """How the ratio to the floor changes with the size of the tree."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    memory: dict[tuple[str, str], dict[str, int]] = {}
    for case in cases:
        if not case["corpus"].startswith("scale-"):
            continue
        by_name = {e["engine"]: e for e in case["engines"] if "runs" in e}
        if "floor" not in by_name:
            continue
        for name, engine in by_name.items():
            memory.setdefault((case["question"], name), {})[case["corpus"]] = engine["max_rss_kib"]
            for cost, column in (("wall", 0), ("cpu", 1)):
                pairs = [
                    (a[column], b[column]) for a, b in zip(engine["runs"], by_name["floor"]["runs"])
                    if a and b and b[column] > 0
                ]
                if pairs:
                    ratio = statistics.median(a / b for a, b in pairs)
                    found.setdefault((case["question"], name), {})[f"{case['corpus']} {cost}"] = round(ratio, 4)
    rows = []
    for (question, name), ratios in found.items():
        row = {"question": question, "engine": name, "ratio_to_floor": ratios, "max_rss_kib": memory[question, name]}
        small, large = ratios.get("scale-100k wall"), ratios.get("scale-10m wall")
        if small and large:
            row["growth"] = round(large / small, 4)
        rows.append(row)
    return rows


def write(folder: Path, name: str, data: dict) -> Path:
    """Writes both files and returns the one to read."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(_json(data))
    readable = folder / f"{name}.md"
    readable.write_text(markdown(data))
    return readable


def _json(data: dict) -> str:
    """A line for each part of its lists, so that a difference shows what is new."""

    def line(value) -> str:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    parts = [f"{line(name)}: " + ("[\n" + ",\n".join(map(line, value)) + "\n]" if isinstance(value, list) else line(value))
             for name, value in data.items()]
    return "{" + ",\n".join(parts) + "}\n"


# --- Markdown --------------------------------------------------------------

def _table(head: list[str], rows: list[list[str]], texts: int = 1) -> list[str]:
    """A table whose first columns are text and whose others are numbers."""
    aligned = ["---"] * texts + ["---:"] * (len(head) - texts)
    return ["| " + " | ".join(line) + " |" for line in (head, aligned, *rows)] + [""]


def _ms(spread: dict | None) -> str:
    return f"{spread['median'] * 1e3:,.1f}" if spread else "–"


def _range(spread: dict | None) -> str:
    return f"{spread['low'] * 1e3:,.1f} … {spread['high'] * 1e3:,.1f}" if spread else "–"


def _times(spread: dict | None) -> str:
    return f"**{spread['median']:.2f}** ({spread['low']:.2f} … {spread['high']:.2f})" if spread else "–"


def _case(case: dict) -> list[str]:
    right = case["right_answer"]
    lines = [
        f"### {case['corpus']}: {case['question']}",
        "",
        f"{case['what'][0].upper()}{case['what'][1:]}: {right['entries']:,} entries, {right['files']:,} files, "
        f"{right['dirs']:,} directories, {right['symlinks']:,} symbolic links.",
        f"File system: {case['file_system']}; names in the kernel's memory: {case['names_in_memory']:,}.",
        f"Other processes of the machine used {case['others_cpu_share']:.0%} of its processors meanwhile; "
        f"{case['runs_repeated']} runs were repeated for that, {case['runs_disturbed']} count although disturbed.",
        "",
    ]
    if case["tree_changed_meanwhile"]:
        lines += ["**The tree changed while it was measured: no answer of this case counts.**", ""]
    engines = sorted(case["engines"], key=lambda e: e["wall_s"]["median"] if "wall_s" in e else float("inf"))
    rows = []
    for engine in engines:
        rss = f"{engine['max_rss_kib'] / 1024:,.1f}" if "max_rss_kib" in engine else "–"
        counted = str(sum(run is not None for run in engine.get("runs", []))) if "runs" in engine else "–"
        rows.append([
            engine["engine"], _ms(engine.get("wall_s")), _range(engine.get("wall_s")), _ms(engine.get("cpu_s")), rss,
            _times(engine.get("wall_ratio")), _times(engine.get("cpu_ratio")), counted, engine["answer"],
        ])
    base = case["base"] or "nothing"
    lines += _table(
        ["engine", "wall ms", "quartiles", "CPU ms", "RSS MiB", f"wall / {base}", f"CPU / {base}", "rounds",
         "answer"], rows)
    lines += ["Command lines, and what there is to say:", ""]
    for engine in engines:
        lines.append(f"- {engine['engine']}: `{engine['command']}`")
        for text in engine.get("wrong", [])[:3]:
            lines.append(f"  - no time, because its answer is wrong: {text}")
        if len(engine.get("wrong", [])) > 3:
            lines.append(f"  - and {len(engine['wrong']) - 3} more wrong answers")
        lines += [f"  - {text}" for text in engine["notes"]]
    return lines + [""]


def _calls(trees: list[dict]) -> list[str]:
    if not trees:
        return []
    lines = ["## System calls", "",
             f"For each entry of a tree of some {trees[0]['entries']:,} that has the corpus' shape, beyond what the "
             "same command does with an empty directory; counted by `strace -f -c` in runs that were not timed.",
             "A name stands here where at least one entry in two hundred costs such a call.", ""]
    for tree in trees:
        lines += [f"### Calls, {tree['tree'].removeprefix('calls-')}: {tree['question']}", ""]
        rows = []
        for engine in sorted(tree["engines"], key=lambda e: e.get("calls_per_entry", float("inf"))):
            if "missing" in engine:
                rows.append([engine["engine"], engine["missing"], "–"])
                continue
            main = [f"{name} {rate:.2f}" for name, rate in engine["by_name"].items() if rate >= 0.005]
            rows.append([engine["engine"], ", ".join(main) or "–", f"{engine['calls_per_entry']:.2f}"])
        lines += _table(["engine", "by name", "calls / entry"], rows, 2)
    return lines


def _startups(startups: list[dict]) -> list[str]:
    if not startups:
        return []
    rows = []
    for startup in startups:
        for name, engine in startup["engines"].items():
            if "wrong" in engine:
                rows.append([startup["case"], name, "–", "–", "–", "–", engine["wrong"]])
                continue
            rows.append([startup["case"], name, _ms(engine["wall_s"]), _range(engine["wall_s"]),
                         _ms(engine["cpu_s"]), f"{engine['max_rss_kib'] / 1024:.1f}",
                         _times(engine.get("wall_ratio"))])
    head = ["case", "engine", "wall ms", "quartiles", "CPU ms", "RSS MiB", f"wall / {startups[0]['base']}"]
    return ["## Start-up", "", f"{startups[0]['runs']} runs of each engine, alternating.", "", *_table(head, rows, 2)]


def _growth(rows: list[dict]) -> list[str]:
    if not rows:
        return []
    columns = list(dict.fromkeys(name for row in rows for name in row["ratio_to_floor"]))
    trees = list(dict.fromkeys(name for row in rows for name in row["max_rss_kib"]))
    body = [
        [row["question"], row["engine"],
         *(f"{row['ratio_to_floor'][c]:.3f}" if c in row["ratio_to_floor"] else "–" for c in columns),
         f"{row['growth']:.3f}" if "growth" in row else "–",
         *(f"{row['max_rss_kib'][t] / 1024:,.1f}" if t in row["max_rss_kib"] else "–" for t in trees)]
        for row in rows
    ]
    text = ["## Growth and memory", "", "Ratios to the floor in the same round; growth is how the ratio of "
            "the wall times changes from the small to the large tree.", ""]
    head = ["question", "engine", *columns, "growth", *(f"{tree} RSS MiB" for tree in trees)]
    return text + _table(head, body, 2)


def markdown(data: dict) -> str:
    """The record as a page."""
    lines = ["# Comparison of statwalk with other programs", ""]
    if data["remarks"]:
        lines += [f"**{remark}**" for remark in data["remarks"]] + [""]
    lines += [
        "This is measured by the authors of statwalk; `bench/README.md` says where that may show.",
        "Wall and CPU times are medians over the rounds, ratios are medians of the ratios within one round; "
        "in brackets the first and third quartile.",
        "A wrong answer has no time.",
        "",
        "## Conditions",
        "",
        *_table(["what", "how"], [[name, text] for name, text in data["conditions"].items()], 2),
        "## Engines",
        "",
        *_table(["engine", "version", "remark"], [[e["name"], e["version"], e["remark"]] for e in data["engines"]], 3),
    ]
    if data["missing"]:
        lines += ["Missing:", "", *(f"- {text}" for text in data["missing"]), ""]
    lines += ["## Results", ""]
    for case in data["cases"]:
        lines += _case(case)
    lines += _startups(data["startup"]) + _growth(data["growth"]) + _calls(data["calls"])
    return "\n".join(lines).rstrip() + "\n"
