# SPDX-License-Identifier: MIT OR Apache-2.0
"""The record of the articles' experiments, and the tables and plots of RESULTS.md."""

import html
import json
import re
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path

from . import agenda, sources
from .contest import Result
from .corpus import Corpus
from .record import quartiles
from .walk_oracle import Count

SCHEMA = 2


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
    if runs:
        if result.is_unwarmed:
            data["unwarmed"] = True
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
    return {"median": round(middle, 6), "low": round(low, 6), "high": round(high, 6)}


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
    lines += ["", "## Who is first", "", *_first(data), "", "## Memory", "",
              "The largest peak of the rounds, in MiB.", "", *_memory(data)]
    for case in data["cases"]:
        lines += ["", f"## {_title(case)}", "", *_how(case), *table(case)]
    return "\n".join(lines) + "\n"


def _how(case: dict) -> list[str]:
    """Under which conditions a case was measured."""
    if "sitting" not in case:
        return []
    share = f"{case['others_cpu_share']:.1%} of the processors"
    others = f"others and the kernel's own threads used {share}" if case["cold"] else (
        f"others used {share}; {case['runs_repeated']} runs were repeated, {case['runs_disturbed']} count although "
        "disturbed")
    changed = ["**The tree changed while it was measured.**", ""] if case["tree_changed_meanwhile"] else []
    later = [line for one in case.get("later", []) for line in _how(one | {"cold": case["cold"]})]
    return [f"Sitting {case['sitting']}, begun {case['began']}, {case['seconds']} s. Up to {case['rounds']} rounds, "
            f"{case['budget_s']:g} s for each way; {others}.", "", *changed, *later]


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


# Marks a row whose way has become another program since; RESULTS.md says so at its beginning.
CHANGED = "†"


def _name(r: dict) -> str:
    return f"{r['name']} {CHANGED}" if r.get("changed") else r["name"]


def mark_changed(data: dict) -> None:
    """Marks the rows of ways that have become other programs since they were measured."""
    present = sources.now()
    for case in data["cases"]:
        names = sources.changed(case, sittings(data), present)
        for result in case["results"]:
            if result["name"] in names:
                result["changed"] = True


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
        sitting = f", sitting {r['sitting']}" if "sitting" in r else ""
        lines.append(f"| {_name(r)} | {_ms(r['wall_s'])} | {spread} | {_ms(r['cpu_s'])} | {times} "
                     f"| {_ms(r.get('inner_s'))} | {r['max_rss_kib'] / 1024:,.1f} | {calls} "
                     f"| {r['rounds']}{', not warmed' if r.get('unwarmed') else ''}{sitting} |")
    left_out = [r for r in case["results"] if ("wrong" in r or "unjudged" in r) and wanted(r["name"])]
    if left_out:
        lines += ["", "No time:", ""]
        lines += [f"- {r['name']}: {r.get('wrong') or r.get('unjudged')}" for r in left_out]
    return lines


# --- RESULTS.md ------------------------------------------------------------

# What asks a file system, as article 1 counted it; `read` and `write` are not among them, because nobody here
# reads a file, and Wine's and Java's go to pipes and to what they start from.
FILE_CALLS = {
    "open", "openat", "openat2", "close", "getdents", "getdents64", "stat", "lstat", "fstat", "newfstatat", "statx",
    "access", "faccessat", "faccessat2", "readlink", "readlinkat", "chdir", "fchdir", "fcntl", "getcwd", "statfs",
    "fstatfs", "lseek", "ioctl",
}
# What the articles concluded, as one way's time divided by another's: what it is called, and the two.
RATIOS = {
    "article-1": ("size", [
        ("Qt's lists, one thread in C", "qt/list-recursive", "c-getdents"),
        ("Qt's iterators, one thread in C", "qt/iterator-recursive", "c-getdents"),
        ("Qt: recursion, stack", "qt/iterator-recursive", "qt/iterator-stack"),
        ("Qt: queue, stack", "qt/iterator-queue", "qt/iterator-stack"),
        ("Qt: room reserved, not", "qt/iterator-reserved", "qt/iterator-stack"),
        ("WinAPI: recursion, stack", "winapi/recursive", "winapi/stack"),
        ("WinAPI: queue, stack", "winapi/queue", "winapi/stack"),
        ("statwalk: recursion, stack", "statwalk/recursive", "statwalk/stack"),
        ("statwalk: queue, stack", "statwalk/queue", "statwalk/stack"),
        ("statwalk: room reserved, not", "statwalk/stack-reserved", "statwalk/stack"),
        ("C#: EnumerateDirectories, one thread in C", "csharp/enumerate-directories", "c-getdents"),
        ("C#: GetAttributes, EnumerateDirectories", "csharp/enumerate-file-system-entries-recursive",
         "csharp/enumerate-directories"),
        ("Java's visitor, one thread in C", "java/walk-file-tree", "c-getdents"),
    ]),
    "article-2": ("count", [
        ("Native API with a large buffer, with a small one", "winapi/native-large", "winapi/native-small"),
        ("Native API with a small buffer, FindFirstFileEx", "winapi/native-small", "winapi/ex-small-standard-sync"),
        ("large fetch, small (standard)", "winapi/ex-large-standard-sync", "winapi/ex-small-standard-sync"),
        ("large fetch, small (basic)", "winapi/ex-large-basic-sync", "winapi/ex-small-basic-sync"),
        ("basic, standard (small)", "winapi/ex-small-basic-sync", "winapi/ex-small-standard-sync"),
        ("futures from a pool, one thread", "winapi/ex-small-standard-pool", "winapi/ex-small-standard-sync"),
        ("futures with a thread each, one thread", "winapi/ex-small-standard-async", "winapi/ex-small-standard-sync"),
        ("statwalk: futures, stack", "statwalk/futures", "statwalk/stack"),
        ("statwalk: parallel, stack", "statwalk/parallel", "statwalk/stack"),
    ]),
    "article-3": ("directory", [
        ("DirectoryStream with attributes, names alone", "java/directory-stream-attributes",
         "java/directory-stream-names"),
        ("visitor, names alone", "java/walk-file-tree-depth-1", "java/directory-stream-names"),
        ("visitor, DirectoryStream with attributes", "java/walk-file-tree-depth-1", "java/directory-stream-attributes"),
        ("DirectoryStream with attributes, one thread in C", "java/directory-stream-attributes", "c-getdents"),
    ]),
    "article-4": ("records", [
        ("one thread, calls by the library, with one lstat", "cpp-std/redundant-alone", "cpp-std/lstat-alone"),
        ("his first program, his second", "cpp-std/redundant-pool", "cpp-std/lstat-pool"),
        ("his first program, Java's work stealing", "cpp-std/redundant-pool", "java/work-stealing"),
        ("his first program, with its calls before the lock", "cpp-std/redundant-pool", "cpp-std/unlocked-pool"),
        ("his calls before the lock, his second program", "cpp-std/unlocked-pool", "cpp-std/lstat-pool"),
        ("his calls before the lock, Java's work stealing", "cpp-std/unlocked-pool", "java/work-stealing"),
        ("his second program, Java's work stealing", "cpp-std/lstat-pool", "java/work-stealing"),
        ("his calls before the lock, Rust with rayon", "cpp-std/unlocked-pool", "rust/article"),
        ("his calls before the lock, JavaScript", "cpp-std/unlocked-pool", "node/article"),
        ("his calls before the lock, statwalk", "cpp-std/unlocked-pool", "statwalk/parallel"),
    ]),
}
# The runtimes of article 1's last table, and what their ways are called.
RUNTIMES = {"WinAPI": ("winapi/recursive", "winapi/queue", "winapi/stack"), "Qt": ("qt/",), "C#": ("csharp/",),
            "Java": ("java/",), "Groovy": ("groovy/",), "C": ("c-",), "statwalk": ("statwalk/",)}
# The programs of article 4, and who stands beside them.
ARTICLE_4 = ("cpp-std/", "threads/", "java/work-stealing", "node/article", "rust/article", "c-getdents", "statwalk/parallel")
# Trees without a link upwards, for those who would not end at one.
DOWN = ("music-down", "data-down", "drive")
# Trees that ask no new question of who is first: they lack links, or are too small to tell.
NOT_RANKED = ("music-down", "data-down", "one-file")
# Where peak memory is shown, as tree and model.
MEMORY = (("data", "size"), ("home", "size"), ("home", "records"), ("users", "records"))


def fill_page(page: Path, record: str, data: dict) -> None:
    """Puts the tables between their marks; what stands around them is written by hand."""
    mark_changed(data)
    text = page.read_text()
    text = re.sub(r"(<!-- table: ([^>]+) -->\n).*?(<!-- end -->)",
                  lambda m: m[1] + "\n".join(_section(m[2].strip(), record, data)) + "\n" + m[3], text, flags=re.S)
    page.write_text(text)
    pictures = page.parent / "pictures"
    pictures.mkdir(exist_ok=True)
    (pictures / "first.svg").write_text(_strips(data))


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
    state, _, kind = words[0].partition(":")
    case = _case(data, word, kind or "ext4", model, state == "cold")
    if not case:
        return _absent(f"{word} on {kind or 'ext4'}, {state}: {model}")
    heads = tuple(prefixes)
    return [*_how(case), *table(case, lambda way: not heads or way.startswith(heads) or way == "program/floor")]


def _case(data: dict, corpus: str, kind: str, model: str, cold: bool = False) -> dict | None:
    wanted = (corpus, kind, model, cold)
    return next((case for case in data["cases"] if agenda.key(case) == wanted), None)


def _absent(what: str) -> list[str]:
    return [f"Not in the record yet: {what}."]


def _conditions(data: dict) -> list[str]:
    lines = ["| sitting | date | statwalk commit | kernel | processor | load | cases | rounds | seconds for each way |",
             "|---:|---|---|---|---|---:|---:|---:|---:|"]
    missing = {}
    for number, sitting in enumerate(sittings(data)):
        how, limits = sitting["conditions"], sitting["limits"]
        cases = sum(case.get("sitting", 0) == number for case in data["cases"])
        lines.append(f"| {number} | {how['date']} | {how['statwalk commit']} | {how['kernel']} | {how['processor']} "
                     f"| {how['load average at the start']} | {cases} | {limits['rounds']} | {limits['budget_s']:g} |")
        missing |= dict.fromkeys(sitting["missing"])
    machines: dict[str, dict] = {sitting["conditions"]["processor"]: sitting["conditions"] for sitting in sittings(data)}
    lines.append("")
    for processor, how in machines.items():
        lines.append(f"- {processor}: {how['memory']}; mitigations: {how['mitigations']}.")
    return lines + [f"- missing: {text}" for text in missing] + [""] + _left(data)


def _left(data: dict) -> list[str]:
    """What the whole record would have besides."""
    held = {agenda.key(case) for case in data["cases"]}
    left: dict[str, list[str]] = {}
    for wanted in agenda.agenda().cases("ext4"):
        if wanted.key() not in held:
            left.setdefault(wanted.shown().rpartition(":")[0], []).append(wanted.model)
    absent = (_absent(f"{where}: {', '.join(models)}") for where, models in left.items())
    return [" ".join(line for lines in absent for line in lines)] if left else []


def _best(case: dict, own: str = "statwalk") -> tuple[dict, dict, dict] | None:
    """The first, the best of statwalk and the best of the others; the floor is no product."""
    timed = [r for r in _timed(case) if not r["name"].startswith("program/floor")]
    ours = [r for r in timed if own in r["name"]]
    others = [r for r in timed if "statwalk" not in r["name"]]
    return (timed[0], ours[0], others[0]) if ours and others else None


def _lead(best: tuple[dict, dict, dict]) -> float:
    return best[2]["wall_s"]["median"] / best[1]["wall_s"]["median"]


def _by_tree(case: dict) -> tuple:
    """The order of cases for readers: small trees first, and of each what is like it together."""
    return case["files"] + case["dirs"], case["cold"], case["file_system"], case["model"]


def _behind(data: dict) -> list[str]:
    """In how many cases statwalk is first, and the others."""
    return _first(data, is_all=False)


def _first(data: dict, is_all: bool = True) -> list[str]:
    """Who is first in each case."""
    cases = sorted((case for case in data["cases"] if case["corpus"] not in NOT_RANKED), key=_by_tree)
    found = [(case, best) for case in cases if (best := _best(case))]
    left_out = [_title(case) for case in cases if not _best(case)]
    if not found:
        return _absent("a case with statwalk and others")
    behind = [case for case, best in found if _lead(best) < 1]
    library = [best for case in cases if (best := _best(case, "statwalk/"))]
    lines = [f"statwalk is first in {len(found) - len(behind)} of {len(found)} cases; "
             f"its library alone, which asks the kernel as the others do, in "
             f"{sum(_lead(best) >= 1 for best in library)} of {len(library)}.",
             *([f"Left out, because statwalk has no time there: {'; '.join(left_out)}."] if left_out else []),
             f"The best of the others takes {_leads(found, False)} as long warm, {_leads(found, True)} cold: "
             "the median, and the middle half.", "",
             "| tree | state | model | first | ms | best of statwalk | ms | best of the others | ms "
             "| others ÷ statwalk | share of the processors that others used |",
             "|---|---|---|---|---:|---|---:|---|---:|---:|---:|"]
    for case, best in found:
        if not is_all and case not in behind:
            continue
        first, ours, others = best
        ratio = f"{_lead(best):.2f}"
        share = case.get("others_cpu_share")
        lines.append(f"| {case['corpus']} on {case['file_system']} | {_state(case)} | {case['model']} "
                     f"| {_name(first)} | {_ms(first['wall_s'])} | {ours['name']} | {_ms(ours['wall_s'])} "
                     f"| {_name(others)} | {_ms(others['wall_s'])}{' ²' if others['rounds'] == 1 else ''} | {f'**{ratio}**' if case in behind else ratio} "
                     f"| {'–' if share is None else f'{share:.1%}'} |")
    single = sum(best[2]["rounds"] == 1 for _, best in found)
    return [*lines, "", f"² A single run, which used all the time that it was given. So in {single} cases."]


def _leads(found: list[tuple[dict, tuple]], cold: bool) -> str:
    leads = [_lead(best) for case, best in found if case["cold"] == cold]
    if not leads:
        return "–"
    low, middle, high = quartiles(leads)
    return f"{middle:.2f} times ({low:.2f} to {high:.2f})"


def _state(case: dict) -> str:
    return "cold" if case["cold"] else "warm"


def _ratios(data: dict, article: str) -> list[str]:
    """What an article concluded, on every tree that was asked: within one process, else of processes."""
    model, rows = RATIOS[article]
    # Where one of each kind was asked, most of them are missing.
    cases = [case for case in data["cases"] if case["model"] == model and not case["cold"]
             and 2 * sum(bool(_quotient(case, over, under)) for _, over, under in rows) >= len(rows)]
    if not cases:
        return _absent(f"a warm tree asked for {model}")
    places = [f"{case['corpus']} on {case['file_system']}{'' if _is_within(case) else ' ¹'}" for case in cases]
    lines = ["| " + " | ".join(["first ÷ second", *places]) + " |", "|---" + "|---:" * len(cases) + "|"]
    for what, over, under in rows:
        quotients = [_quotient(case, over, under) for case in cases]
        if any(quotients):
            shown = [f"{quotient:.2f}{' ²' if _is_of_one_run(case, over, under) else ''}"
                     f"{f' {CHANGED}' if _is_changed(case, over, under) else ''}" if quotient else "–"
                     for case, quotient in zip(cases, quotients)]
            lines.append(f"| {what} (`{over}` ÷ `{under}`) | " + " | ".join(shown) + " |")
    if not all(map(_is_within, cases)):
        lines += ["", "¹ Times of whole processes; the others are within one process."]
    if any("²" in line for line in lines):
        lines += ["", "² At least one of the two has a single run."]
    return lines


def _is_within(case: dict) -> bool:
    return any("inner_s" in r for r in case["results"])


def _is_of_one_run(case: dict, over: str, under: str) -> bool:
    rounds = "inner_rounds" if _is_within(case) else "rounds"
    return any(r.get(rounds) == 1 for r in case["results"] if r["name"] in (over, under))


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
        share = scan["wall_s"]["median"] / base["wall_s"]["median"]
        cells = [f"{_ms(base['wall_s'])} ({base['name'].removeprefix('program/')})", _ms(base["cpu_s"]),
                 _ms(scan["wall_s"]), _ms(scan["cpu_s"]), f"{share:.2f}",
                 _ms(ours["wall_s"] if ours else None), _ms(ours["cpu_s"] if ours else None)]
        lines.append(f"| {case['corpus']} on {case['file_system']} | {_state(case)} | {case['model']} | "
                     + " | ".join(cells) + " |")
    return lines if len(lines) > 2 else _absent("home or data with treescan and find")


def _runtimes(data: dict) -> list[str]:
    """Article 1's last table: the fastest way of each runtime, on trees that every one of them ends at."""
    trees = [case for name in DOWN if (case := _case(data, name, "ext4", "size"))]
    if not trees:
        return _absent("a tree without links upwards")
    lines = ["| runtime | " + " | ".join(f"{case['corpus']} ms | way" for case in trees) + " |",
             "|---|" + "---:|---|" * len(trees)]
    for runtime, prefixes in RUNTIMES.items():
        cells = []
        for case in trees:
            # As in the article: within one process, else of processes.
            kind = "inner_s" if _is_within(case) else "wall_s"
            timed = [r for r in case["results"] if r["name"].startswith(prefixes) and kind in r]
            best = min(timed, key=lambda r: r[kind]["median"], default=None)
            cells += [_ms(best[kind]), f"`{best['name']}`{f' {CHANGED}' if best.get('changed') else ''}"] if best else ["–", "–"]
        lines.append(f"| {runtime} | " + " | ".join(cells) + " |")
    return lines


def _accesses(data: dict) -> list[str]:
    """What the one file of a directory costs, beside what the empty directory costs."""
    case = _case(data, "one-file", "ext4", "size")
    if not case or not any("calls" in r for r in case["results"]):
        return _absent("one file in one directory, with its system calls")
    lines = ["| way | accesses of the file | by name |", "|---|---:|---|"]
    for r in sorted(case["results"], key=lambda r: r["name"]):
        if "calls" in r:
            own = {name: number for name, number in r["calls"].items() if name in FILE_CALLS}
            lines.append(f"| {_name(r)} | {sum(own.values())} "
                         f"| {', '.join(f'{name} {number}' for name, number in own.items()) or '–'} |")
    return lines


def _user_and_system(data: dict) -> list[str]:
    """Article 4's own columns, warm and cold, as `time` shows them."""
    lines = ["| tree | state | way | real ms | user ms | system ms |", "|---|---|---|---:|---:|---:|"]
    for case in data["cases"]:
        if (case["corpus"], case["model"]) != ("home", "records"):
            continue
        for r in _timed(case):
            # Records before these have the sum alone.
            if r["name"].startswith(ARTICLE_4) and "system_s" in r:
                user_ms = 1e3 * (r["cpu_s"]["median"] - r["system_s"]["median"])
                lines.append(f"| home on {case['file_system']} | {_state(case)} | {_name(r)} | {_ms(r['wall_s'])} "
                             f"| {max(0.0, user_ms):,.0f} | {_ms(r['system_s'])} |")
    return lines if len(lines) > 2 else _absent("home: records, with user and system time")


def _memory(data: dict) -> list[str]:
    """The largest peak of the rounds."""
    cases = [case for corpus, model in MEMORY if (case := _case(data, corpus, "ext4", model))]
    if not cases:
        return _absent("a tree whose memory is shown")
    peaks: dict[str, list[float | None]] = {}
    for number, case in enumerate(cases):
        for r in _timed(case):
            peaks.setdefault(r["name"], [None] * len(cases))[number] = r["max_rss_kib"] / 1024
    heads = [f"{case['corpus']}: {case['model']}" for case in cases]
    lines = ["| " + " | ".join(["way", *heads]) + " |", "|---" + "|---:" * len(cases) + "|"]
    for name, row in sorted(peaks.items(), key=lambda item: [-(peak or 0) for peak in reversed(item[1])]):
        lines.append(f"| {name} | " + " | ".join(f"{peak:,.1f}" if peak else "–" for peak in row) + " |")
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
    case = _case(data, "music", "ext4", model)
    rates = file_calls(case, _baselines(data, "music")) if case else {}
    if not case or not rates:
        return _absent(f"music on ext4, warm: {model}, with system calls")
    by_name = {r["name"]: r for r in case["results"]}
    lines = ["| way | of the file system, an entry | by name | all, an entry | within one process ms | process ms |",
             "|---|---:|---|---:|---:|---:|"]
    for name, named in sorted(rates.items(), key=lambda item: sum(item[1].values())):
        if prefixes and not name.startswith(prefixes):
            continue
        r = by_name[name]
        main = ", ".join(f"{call} {rate:.2f}" for call, rate in named.items() if rate >= 0.005)
        lines.append(f"| {_name(r)} | {sum(named.values()):.2f} | {main} | {r['calls_per_entry']:.2f} "
                     f"| {_ms(r.get('inner_s'))} | {_ms(r.get('wall_s'))} |")
    return lines


SECTIONS: dict[str, Callable[[dict], list[str]]] = {"first": _behind, "treescan": _treescan,
                                                        "user-and-system": _user_and_system, "runtimes": _runtimes, "accesses": _accesses}


def _strips(data: dict) -> str:
    """Each case a line, each way a mark: its time divided by the best of statwalk's."""
    from math import floor, log10
    rows = []
    for case in sorted(data["cases"], key=_by_tree):
        best = None if case["corpus"] in NOT_RANKED else _best(case)
        if best:
            base = best[1]["wall_s"]["median"]
            rows.append((_title(case), [(r["name"], r["wall_s"]["median"] / base) for r in _timed(case)]))
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
