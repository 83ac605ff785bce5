# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tables of RESULTS.md; `page.toml` says what they compare."""

import re
from collections.abc import Callable
from pathlib import Path

from . import agenda, pictures, ranking, results, sources
from .case_table import CHANGED, absent, case_of, compared, conditions_of, shown_ms, shown_name, state, table, timed

# What asks a file system, as article 1 counted it; `read` and `write` are not among them, because nobody here
# reads a file, and Wine's and Java's go to pipes and to what they start from.
FILE_CALLS = {
    "open", "openat", "openat2", "close", "getdents", "getdents64", "stat", "lstat", "fstat", "newfstatat", "statx",
    "access", "faccessat", "faccessat2", "readlink", "readlinkat", "chdir", "fchdir", "fcntl", "getcwd", "statfs",
    "fstatfs", "lseek", "ioctl",
}


def fill_page(page: Path, record: str, data: dict) -> None:
    """Puts the tables between their marks; what stands around them is written by hand."""
    mark_changed(data)
    data = in_order(data)
    text = page.read_text()
    text = re.sub(r"(<!-- table: ([^>]+) -->\n).*?(<!-- end -->)",
                  lambda m: m[1] + "\n".join(_section(m[2].strip(), record, data)) + "\n" + m[3], text, flags=re.S)
    page.write_text(text)
    pictures.draw(page.parent / "pictures", data)


def in_order(data: dict) -> dict:
    """The record with its cases in the order of the agenda. Cases that are measured anew come last in it."""
    places = {wanted.key(): place for place, wanted in enumerate(agenda.agenda().cases("ext4"))}
    return {**data, "cases": sorted(data["cases"], key=lambda case: places.get(agenda.key(case), len(places)))}


def mark_changed(data: dict) -> None:
    """Marks the rows of ways that have become other programs since they were measured."""
    present = sources.now()
    for case in data["cases"]:
        names = sources.changed(case, results.sittings(data), present)
        for result in case["results"]:
            if result["name"] in names:
                result["changed"] = True


def _section(name: str, record: str, data: dict) -> list[str]:
    """One of `SECTIONS`, `ratios ARTICLE`, `calls MODEL PREFIX …`, or a case.

    A case is `TREE STATE[:FILE-SYSTEM] MODEL [PREFIX …]`.
    """
    word, *words = name.split()
    if word == "conditions":
        return [f"Record: `record/{record}.md` and `.json`.", "", *_conditions(data)]
    if word in SECTIONS:
        return SECTIONS[word](data)
    if word == "ratios":
        return _ratios(data, words[0])
    if word == "calls":
        return _calls(data, words[0], tuple(words[1:]))
    model, *prefixes = words[1:]
    when, _, kind = words[0].partition(":")
    case = case_of(data, word, kind or "ext4", model, when == "cold")
    if not case:
        return absent(f"{word} on {kind or 'ext4'}, {when}: {model}")
    heads = tuple(prefixes)

    def is_shown(way: str) -> bool:
        return not heads or way.startswith(heads) or way == "program/floor"

    return [*conditions_of(case), *table(case, is_shown)]


def _conditions(data: dict) -> list[str]:
    lines = ["| sitting | date | statwalk commit | kernel | processor | others used at most | cases | rounds "
             "| seconds for each way |", "|---:|---|---|---|---|---:|---:|---:|---:|"]
    missing = {}
    for number, sitting in enumerate(results.sittings(data)):
        how, limits = sitting["conditions"], sitting["limits"]
        cases = [case for case in data["cases"] if case.get("sitting", 0) == number]
        if not cases:
            continue
        # With nothing in memory the kernel's own threads work for a run, and look like others.
        shares = [case["others_cpu_share"] for case in cases if not case["cold"]]
        most = f"{max(shares):.1%}" if shares else "–"
        lines.append(f"| {number} | {how['date']} | {how['statwalk commit']} | {how['kernel']} | {how['processor']} "
                     f"| {most} | {len(cases)} | {limits['rounds']} | {limits['budget_s']:g} |")
        missing |= dict.fromkeys(sitting["missing"])
    conditions = [sitting["conditions"] for sitting in results.sittings(data)]
    machines: dict[str, dict] = {how["processor"]: how for how in conditions}
    lines.append("")
    for processor, how in machines.items():
        lines.append(f"- {processor}: {how['memory']}; mitigations: {how['mitigations']}.")
    left = _left(data)
    return lines + [f"- missing: {text}" for text in missing] + ([""] + left if left else [])


def _left(data: dict) -> list[str]:
    """What the whole record would have besides."""
    held = {agenda.key(case) for case in data["cases"]}
    left: dict[str, list[str]] = {}
    for wanted in agenda.agenda().cases("ext4"):
        if wanted.key() not in held:
            left.setdefault(wanted.shown().rpartition(":")[0], []).append(wanted.model)
    sentences = (absent(f"{where}: {', '.join(models)}") for where, models in left.items())
    return [" ".join(line for lines in sentences for line in lines)] if left else []


def _behind(data: dict) -> list[str]:
    """In how many cases statwalk is first, and the others."""
    return ranking.who_is_first(data, is_all=False)


def _ratios(data: dict, article: str) -> list[str]:
    """What an article concluded, on every tree that was asked: within one process, else of processes."""
    model, rows = compared()["ratios"][article].values()
    # Where one of each kind was asked, most of them are missing.
    cases = [case for case in data["cases"] if case["model"] == model and not case["cold"]
             and 2 * sum(bool(_quotient(case, over, under)) for _, over, under in rows) >= len(rows)]
    if not cases:
        return absent(f"a warm tree asked for {model}")
    places = [f"{case['corpus']} on {case['file_system']}{'' if _is_within(case) else ' ¹'}" for case in cases]
    lines = ["| " + " | ".join(["first ÷ second", *places]) + " |", "|---" + "|---:" * len(cases) + "|"]
    for what, over, under in rows:
        quotients = [_quotient(case, over, under) for case in cases]
        if any(quotients):
            shown = [f"{quotient:.2f}{f' {CHANGED}' if _is_changed(case, over, under) else ''}" if quotient
                     else "– ²" if _is_too_slow(case, over, under) else "–"
                     for case, quotient in zip(cases, quotients)]
            lines.append(f"| {what} (`{over}` ÷ `{under}`) | " + " | ".join(shown) + " |")
    notes = []
    if not all(map(_is_within, cases)):
        notes.append("¹ Times of whole processes; the others are within one process.")
    if any("²" in line for line in lines):
        notes.append("² One of the two is too slow for five rounds: a smaller tree has it.")
    return [*lines, "", " ".join(notes)] if notes else lines


def _is_within(case: dict) -> bool:
    return any("inner_s" in r for r in case["results"])


def _is_too_slow(case: dict, over: str, under: str) -> bool:
    return any("slow_s" in r for r in case["results"] if r["name"] in (over, under))


def _is_changed(case: dict, over: str, under: str) -> bool:
    return any(r.get("changed") for r in case["results"] if r["name"] in (over, under))


def _quotient(case: dict, over: str, under: str) -> float | None:
    kind = "inner_s" if _is_within(case) else "wall_s"
    found = {r["name"]: r[kind]["median"] for r in case["results"] if kind in r}
    return found[over] / found[under] if over in found and found.get(under) else None


def _treescan(data: dict) -> list[str]:
    """Article 5's two programs, and statwalk beside them."""
    lines = ["| tree | state | model | find or du ms | CPU ms | treescan ms | CPU ms | treescan's share "
             "| statwalk ms | CPU ms |",
             "|---|---|---|---:|---:|---:|---:|---:|---:|---:|"]
    for case in data["cases"]:
        by_name = {r["name"]: r for r in case["results"] if "wall_s" in r}
        base = by_name.get("program/find") or by_name.get("program/du")
        scan, ours = by_name.get("program/treescan"), by_name.get("program/statwalk")
        if case["corpus"] not in ("home", "data") or not (base and scan):
            continue
        if not case["cold"] and case["corpus"] != compared()["treescan"]["warm"]:
            continue
        share = scan["wall_s"]["median"] / base["wall_s"]["median"]
        cells = [f"{shown_ms(base['wall_s'])} ({base['name'].removeprefix('program/')})", shown_ms(base["cpu_s"]),
                 shown_ms(scan["wall_s"]), shown_ms(scan["cpu_s"]), f"{share:.2f}",
                 shown_ms(ours["wall_s"] if ours else None), shown_ms(ours["cpu_s"] if ours else None)]
        lines.append(f"| {case['corpus']} on {case['file_system']} | {state(case)} | {case['model']} | "
                     + " | ".join(cells) + " |")
    return lines if len(lines) > 2 else absent("home or data with treescan and find")


def _runtimes(data: dict) -> list[str]:
    """Article 1's last table: the fastest way of each runtime, on trees that every one of them ends at."""
    wanted = compared()["runtimes"]
    trees = [(name, case_of(data, name, "ext4", "size")) for name in wanted["trees"]]
    lines = ["| runtime | " + " | ".join(f"{name}: the article, ms | here, ms | way" for name, _ in trees) + " |",
             "|---|" + "---:|---:|---|" * len(trees)]
    for runtime in wanted["runtime"]:
        cells = []
        for number, (_, case) in enumerate(trees):
            article_ms = runtime.get("article_ms", [0] * len(trees))[number]
            kind = _kind(case)
            rows = case["results"] if case else []
            found = [r for r in rows if r["name"].startswith(tuple(runtime["ways"])) and kind in r]
            best = min(found, key=lambda r: r[kind]["median"], default=None)
            mark = f" {CHANGED}" if best and best.get("changed") else ""
            cells += [f"{article_ms:,}" if article_ms else "–",
                      *([shown_ms(best[kind]), f"`{best['name']}`{mark}"] if best else ["–", "–"])]
        lines.append(f"| {runtime['name']} | " + " | ".join(cells) + " |")
    left = [name for name, case in trees if not case]
    return lines + ["", *absent(f"{', '.join(left)} on ext4, warm: size")] if left else lines


def _drive(data: dict) -> list[str]:
    """Article 1's update: a whole drive, by library and loop."""
    wanted = compared()["drive"]
    libraries, case = wanted["libraries"], case_of(data, wanted["tree"], "ext4", "size")
    kind = _kind(case)
    rows = {r["name"]: r for r in case["results"] if kind in r} if case else {}
    theirs = len(wanted["loop"][0]["article_ms"])
    heads = [f"{name}: the article, ms | here, ms" if number < theirs else f"{name}, ms"
             for number, name in enumerate(libraries)]
    lines = ["| loop | " + " | ".join(heads) + " |", "|---|" + "---:|" * (theirs + len(libraries))]
    for loop in wanted["loop"]:
        cells = []
        for number, way in enumerate(loop["ways"]):
            if number < theirs:
                article_ms = loop["article_ms"][number]
                cells.append(f"{article_ms:,}" if article_ms else "–")
            r = rows.get(way, {})
            cells.append(shown_ms(r.get(kind)) + (f" {CHANGED}" if r.get("changed") else ""))
        lines.append(f"| {loop['name']} | " + " | ".join(cells) + " |")
    return lines if case else [*lines, "", *absent(f"{wanted['tree']} on ext4, warm: size")]


def _kind(case: dict | None) -> str:
    """As in the article: within one process, else of processes."""
    return "inner_s" if case and _is_within(case) else "wall_s"


def _accesses(data: dict) -> list[str]:
    """What the one file of a directory costs, beside what the empty directory costs."""
    case = case_of(data, "one-file", "ext4", "size")
    if not case or not any("calls" in r for r in case["results"]):
        return absent("one file in one directory, with its system calls")
    # Ways of a folder that ask alike are one row.
    alike: dict[tuple[str, str], list[tuple[str, dict]]] = {}
    for r in sorted(case["results"], key=lambda r: r["name"]):
        if "calls" in r:
            own = {name: number for name, number in r["calls"].items() if name in FILE_CALLS}
            folder, _, way = shown_name(r).partition("/")
            names = ", ".join(f"{name} {number}" for name, number in own.items()) or "–"
            alike.setdefault((folder if way else "", names), []).append((way or folder, own))
    lines = ["| ways | accesses of the file | by name |", "|---|---:|---|"]
    for (folder, names), ways in alike.items():
        others = any(other == folder and calls != names for other, calls in alike)
        shown = f"{folder}/{ways[0][0]}" if len(ways) == 1 and folder else f"{folder}/*"
        if folder and len(ways) > 1 and others:
            shown = f"{folder}: {', '.join(way for way, _ in ways)}"
        lines.append(f"| {shown if folder else ways[0][0]} | {sum(ways[0][1].values())} | {names} |")
    return lines


def _user_and_system(data: dict) -> list[str]:
    """Article 4's own columns, warm and cold, as `time` shows them."""
    wanted = compared()["user_and_system"]
    lines = ["| tree | state | way | real ms | user ms | system ms |", "|---|---|---|---:|---:|---:|"]
    for case in data["cases"]:
        if (case["corpus"], case["model"]) != (wanted["tree"], wanted["model"]):
            continue
        for r in timed(case):
            # Records before these have the sum alone.
            if r["name"].startswith(tuple(wanted["ways"])) and "system_s" in r:
                user_ms = 1e3 * (r["cpu_s"]["median"] - r["system_s"]["median"])
                lines.append(f"| home on {case['file_system']} | {state(case)} | {shown_name(r)} "
                             f"| {shown_ms(r['wall_s'])} | {max(0.0, user_ms):,.0f} | {shown_ms(r['system_s'])} |")
        lines += _pools(case, wanted)
    return lines if len(lines) > 2 else absent("home: records, with user and system time")


def _pools(case: dict, wanted: dict) -> list[str]:
    """A row for each pool, with its times by number of threads."""
    by_name = {r["name"]: r for r in timed(case) if "system_s" in r}
    lines = []
    for pool in wanted["pools"]:
        rows = [by_name.get(f"{pool}-{threads}") for threads in wanted["pool_threads"]]
        if any(rows):
            user = [r and {"median": max(0.0, r["cpu_s"]["median"] - r["system_s"]["median"])} for r in rows]
            columns = [[r and r["wall_s"] for r in rows], user, [r and r["system_s"] for r in rows]]
            cells = [" · ".join(shown_ms(time) for time in column) for column in columns]
            threads = ", ".join(str(number) for number in wanted["pool_threads"])
            lines.append(f"| home on {case['file_system']} | {state(case)} | {pool} on {threads} threads | "
                         + " | ".join(cells) + " |")
    return lines


def file_calls(case: dict, baselines: dict[str, dict[str, int]]) -> dict[str, dict[str, float]]:
    """Calls that ask a file system, by way and name, for each entry; without what the way runs in asks by itself."""
    entries = case["files"] + case["dirs"]
    found = {}
    for r in case["results"]:
        if "calls" in r and not r["name"].endswith("/nothing"):
            own = baselines.get(r["name"].split("/")[0], {})
            rates = {name: (count - own.get(name, 0)) / entries for name, count in r["calls"].items()
                     if name in FILE_CALLS and count > own.get(name, 0)}
            found[r["name"]] = dict(sorted(rates.items(), key=lambda item: -item[1]))
    return found


def _baselines(data: dict, corpus: str) -> dict[str, dict[str, int]]:
    """The calls of what walks nothing, by folder."""
    return {r["name"].split("/")[0]: r["calls"] for case in data["cases"] if case["corpus"] == corpus
            and not case["cold"] for r in case["results"] if r["name"].endswith("/nothing") and "calls" in r}


def _calls(data: dict, model: str, prefixes: tuple[str, ...]) -> list[str]:
    """System calls by name, on the smallest tree, beside the time."""
    case = case_of(data, "music", "ext4", model)
    rates = file_calls(case, _baselines(data, "music")) if case else {}
    if not case or not rates:
        return absent(f"music on ext4, warm: {model}, with system calls")
    by_name = {r["name"]: r for r in case["results"]}
    lines = ["| way | of the file system, an entry | by name | all, an entry | within one process ms | process ms |",
             "|---|---:|---|---:|---:|---:|"]
    for name, named in sorted(rates.items(), key=lambda item: sum(item[1].values())):
        if prefixes and not name.startswith(prefixes):
            continue
        r = by_name[name]
        main = ", ".join(f"{call} {rate:.2f}" for call, rate in named.items() if rate >= 0.005)
        lines.append(f"| {shown_name(r)} | {sum(named.values()):.2f} | {main} | {r['calls_per_entry']:.2f} "
                     f"| {shown_ms(r.get('inner_s'))} | {shown_ms(r.get('wall_s'))} |")
    return lines


SECTIONS: dict[str, Callable[[dict], list[str]]] = {
    "first": _behind, "treescan": _treescan, "user-and-system": _user_and_system, "runtimes": _runtimes, "drive": _drive,
    "accesses": _accesses,
}
