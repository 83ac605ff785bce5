# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tables of RESULTS.md whose rows and columns come from the record; `page.toml` says what they compare."""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from . import agenda, figure, ranking, results
from .case_table import CHANGED, QUESTIONS, absent, case_of, compared, shown_ms, shown_within, state
from .programs import BENCH


def table(words: list[str], record: str, data: dict) -> list[str]:
    """The lines of one of `TABLES`."""
    name, *arguments = words
    if name == "record":
        return [f"`record/{record}.md` has every table of every case, `record/{record}.json` the numbers."]
    return TABLES[name](data, *arguments)


def _rows(case: dict | None) -> dict[str, dict]:
    """The timed rows of a case by name."""
    return {r["name"]: r for r in case["results"] if "wall_s" in r} if case else {}


def _case(data: dict, place: str) -> dict | None:
    tree, kind, model, when = place.split("/")
    return case_of(data, tree, kind, model, when == "cold")


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _head(cells: list[str], texts: int) -> list[str]:
    """Two lines: the first columns are of text, the others of numbers."""
    return [_line(cells), "|---" * texts + "|---:" * (len(cells) - texts) + "|"]


def _loops(data: dict, name: str, under: str) -> list[str]:
    """Recursion divided by another loop, of each library: in turns where the record has them so, with an interval."""
    if not data.get("pairs"):
        return _pairs(data, name)
    cases = data["pairs"]
    names = list(dict.fromkeys(library["name"] for case in cases for library in case["libraries"]))
    lines = _head(["library", *(f"recursion ÷ {loop}, {case['corpus']}" for loop in ("queue", under) for case in cases)], 1)
    for library in names:
        cells = [_interval(case, library, loop) for loop in ("queue", under) for case in cases]
        if any(cell != "–" for cell in cells):
            lines.append(_line([library, *cells]))
    return lines


def _interval(case: dict, name: str, loop: str) -> str:
    pairs = [pair for library in case["libraries"] if library["name"] == name for pair in library.get("pairs", [])
             if (pair["over"], pair["under"]) == ("recursion", loop)]
    return f"{pairs[0]['median']:.3f} ({pairs[0]['low']:.3f} to {pairs[0]['high']:.3f})" if pairs else "–"


def _pairs(data: dict, name: str) -> list[str]:
    """The pairs of a name on the trees of `pairs_on`, by processes."""
    cases = [case for place in compared()["pairs_on"][name] for case in figure.fitting(place, data)]
    if not cases:
        return absent(f"pairs of {name}")
    lines = _head(["recursion ÷ queue", *(case["corpus"] for case in cases)], 1)
    for pair in compared()["pairs"][name]:
        cells = [_pair(case, pair, data) for case in cases]
        if any(cells):
            lines.append(_line([pair[0], *(cell or "–" for cell in cells)]))
    return lines


def _pair(case: dict, pair: list[str], data: dict) -> str | None:
    value = figure.quotient(case, "process", pair[1], pair[2], data)
    return f"{value.number:.3f}{f' {CHANGED}' if value.is_changed else ''}" if value else None


def _accesses(data: dict) -> list[str]:
    """How often a way reaches the one file of a directory, by its path."""
    case = case_of(data, "one-file", "ext4", "size")
    found = [r for r in case["results"] if "accesses" in r] if case else []
    if not found:
        return absent("accesses of one file by its path")
    lines = _head(["his program", "his", "ours", "by name"], 1)
    lines[1] = "|---|---|---:|---|"
    for name, his, way in compared()["accesses"]["rows"]:
        r = next((r for r in found if r["name"] == way), None)
        if r:
            names = ", ".join(f"{call} {number}" for call, number in r["accesses"].items()) or "–"
            lines.append(_line([f"{name} (`{r['name']}`)", his, str(sum(r["accesses"].values())), names]))
    return lines


def _treescan(data: dict) -> list[str]:
    """Article 5's two programs, and statwalk beside them, by either way that it has."""
    lines = _head(["tree", "state", "question", "find or du: ms", "CPU ms", "treescan: ms", "CPU ms", "treescan ÷",
                   "statwalk: ms", "its library: ms"], 3)
    for case in data["cases"]:
        rows = _rows(case)
        base = rows.get("program/find") or rows.get("program/du")
        scan = rows.get("program/treescan")
        if case["corpus"] not in compared()["treescan"]["trees"] or not (base and scan):
            continue
        if not case["cold"] and figure.place_of(case).split("/")[:2] != compared()["treescan"]["warm"]:
            continue
        share = scan["wall_s"]["median"] / base["wall_s"]["median"]
        ours = [rows.get(name, {}).get("wall_s") for name in ("program/statwalk", "statwalk/parallel")]
        name = base["name"].removeprefix("program/")
        lines.append(_line([f"{case['corpus']} on {case['file_system']}", state(case), QUESTIONS[case["model"]],
                            f"{name} {shown_ms(base['wall_s'])}", shown_ms(base["cpu_s"]), shown_ms(scan["wall_s"]),
                            shown_ms(scan["cpu_s"]), f"{share:.2f}", *map(shown_ms, ours)]))
    return lines if len(lines) > 2 else absent("a tree with treescan and find")


def _tricks(data: dict) -> list[str]:
    """Article 5's tricks, each off or on in turn, from their own record."""
    wanted = compared()["tricks"]
    newest = max((BENCH / "record").glob("*-tricks.md"))
    times: dict[str, dict[str, str]] = {}
    for line in newest.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("## "):
            where = times.setdefault(line.removeprefix("## ").split(":")[0], {})
        elif len(cells) == 6 and cells[2] == "warm":
            name = cells[1] if cells[0] == "statwalk" else cells[0]
            where[name] = f"{float(cells[4].replace(',', '')):,.0f} ({float(cells[3]):.2f})"
    columns = [*wanted["settings"], ["find", "find"], ["treescan", "treescan"]]
    lines = _head(["file system", *(head for head, _ in columns)], 1)
    lines += [_line([shown, *(times.get(name, {}).get(setting, "–") for _, setting in columns)])
              for shown, name in wanted["file_systems"]]
    return lines + ["", f"Milliseconds, and in brackets calls an entry (of find and treescan: stats). `record/{newest.name}`."]


def _listings(data: dict) -> list[str]:
    """One directory by each language, where calls cost nothing and where they wait."""
    lines = _of_program("listings", "one directory by each language", "bench/listings")
    # A record can have the start, too, which has more rounds in its own.
    heads = lines[0].split("|")
    if " start: ms " not in heads:
        return lines
    start = heads.index(" start: ms ")
    cells = [line.split("|") for line in lines[:-2]]
    return ["|".join(row[:start] + row[start + 2:]) for row in cells] + lines[-2:]


def _starts(data: dict) -> list[str]:
    """One file by each language as a whole process."""
    return _of_program("starts", "one file by each language", "bench/listings --cases start")


def _turns(data: dict) -> list[str]:
    """How long the event loop of Node waits."""
    return _of_program("turns", "the waits of an event loop", "bench/turns")


def _of_program(name: str, what: str, command: str) -> list[str]:
    """The table in the newest record of a program in `bench`."""
    records = sorted((BENCH / "record").glob(f"*-{name}.md"))
    if not records:
        return absent(what)
    lines = [line for line in records[-1].read_text().splitlines() if line.startswith("|")]
    return [*lines, "", f"`bench/record/{records[-1].name}`, by `{command}`."]


def _languages(data: dict) -> list[str]:
    """The fastest way of each language to learn sizes, and what it takes for the other questions."""
    wanted = compared()["languages"]
    cases = [case_of(data, wanted["tree"], "ext4", model) for model in wanted["models"]]
    if not all(cases):
        return absent(f"{wanted['tree']} on ext4, warm: {', '.join(wanted['models'])}")
    heads = ["language", "fastest way for sizes", "version", *(f"{QUESTIONS[model]}: ms" for model in wanted["models"]),
             "process: ms", "CPU ms", "MiB"]
    found = []
    for language in wanted["language"]:
        bests = [_fastest(case, language["ways"], "inner_s") for case in cases]
        if bests[0]:
            best = bests[0]
            mark = f" {CHANGED}" if best.get("changed") else ""
            cells = [language["name"], f"`{best['name']}`{mark}", figure.version_of(best["name"], data),
                     *map(shown_within, bests),
                     shown_ms(best["wall_s"]), shown_ms(best["cpu_s"]), f"{best['max_rss_kib'] / 1024:.1f}"]
            found.append((best["inner_s"]["median"], _line(cells)))
    return _head(heads, 3) + [line for _, line in sorted(found)]


def _fastest(case: dict | None, patterns: list[str], kind: str) -> dict | None:
    rows = [r for r in (case["results"] if case else [])
            if kind in r and any(fnmatchcase(r["name"], pattern) for pattern in patterns)]
    return min(rows, key=lambda r: r[kind]["median"], default=None)


def _programs(data: dict) -> list[str]:
    """The programs of today: for each question time, CPU time and memory on one tree, and the time on another, cold."""
    wanted = compared()["programs"]
    cases = [(_case(data, column["warm"]), _case(data, column["cold"])) for column in wanted["column"]]
    heads = ["program", "version"]
    for column in wanted["column"]:
        heads += [f"{column['name']}: ms", "CPU ms", "MiB", "cold ms"]
    rows = [(_rows(warm), _rows(cold)) for warm, cold in cases]
    slow = {r["name"]: f"> {1e3 * r['slow_s']:,.0f}" for warm, _ in cases if warm for r in warm["results"] if "slow_s" in r}
    names = {name for pair in rows for case in pair for name in case} | set(slow)
    names = {name for name in names if name.startswith("program/") or name == wanted["library"]}

    def place_of(name: str) -> tuple[int, float]:
        found = [(number, row[name]["wall_s"]["median"]) for number, (row, _) in enumerate(rows) if name in row]
        return found[0] if found else (len(rows), 0.0)

    lines = _head(heads, 2)
    for name in sorted(names, key=lambda name: (place_of(name), name)):
        cells = []
        for warm, cold in rows:
            r = warm.get(name)
            cells += [shown_ms(r["wall_s"]), shown_ms(r["cpu_s"]), f"{r['max_rss_kib'] / 1024:.1f}"] if r else [
                slow.get(name, "–") if warm is rows[0][0] else "–", "–", "–"]
            cells.append(shown_ms(cold[name]["wall_s"]) if name in cold else "–")
        label = wanted["names"].get(name, name.removeprefix("program/"))
        mark = f" {CHANGED}" if any(case.get(name, {}).get("changed") for pair in rows for case in pair) else ""
        # The floor has none but its compiler's.
        version = "" if "floor" in name else figure.version_number(name, data)
        lines.append(_line([label + mark, version, *cells]))
    return lines


def _first(data: dict) -> list[str]:
    """In how many cases statwalk is first, by how much, and where it is not."""
    return ranking.summary(data)


def _still_missing(texts: list[str], cases: list[dict]) -> list[str]:
    """What sittings could not do, without the cases that another one has measured."""
    held = tuple(f"{case['corpus']} on {case['file_system']}, {state(case)}: {case['model']}: " for case in cases)
    return [text for text in texts if not text.startswith(held)]


def _conditions(data: dict) -> list[str]:
    """The machines, each with its cases; every sitting is in the record."""
    lines = _head(["machine", "kernel", "statwalk commits", "date", "sittings", "cases", "others used at most"], 4)
    machines: dict[tuple[str, str], list[tuple[dict, list[dict], list[str]]]] = {}
    missing: dict[str, None] = {}
    for number, sitting in enumerate(results.sittings(data)):
        cases = [case for case in data["cases"] if case.get("sitting", 0) == number]
        pairs = [case["corpus"] for case in data.get("pairs", []) if case.get("sitting", 0) == number]
        if cases or pairs:
            how = sitting["conditions"]
            machines.setdefault((how["processor"], how["kernel"].removesuffix(" x86_64")), []).append((how, cases, pairs))
            missing |= dict.fromkeys(sitting["missing"])
    for (processor, kernel), found in machines.items():
        # With nothing in memory the kernel's own threads work for a run, and look like others.
        shares = [case["others_cpu_share"] for _, cases, _ in found for case in cases if not case["cold"]]
        commits = list(dict.fromkeys(how["statwalk commit"].split(",")[0][:7] for how, *_ in found))
        dates = sorted({how["date"].split(" ")[0] for how, *_ in found})
        pairs = sorted(tree for _, _, trees in found for tree in trees)
        memory, distribution = found[0][0]["memory"].split(",")[0], found[0][0]["distribution"]
        lines.append(_line([f"{processor}; {memory}; {distribution}", kernel,
                            commits[0] if len(commits) == 1 else f"{commits[0]} to {commits[-1]}",
                            dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}", str(len(found)),
                            f"{sum(len(cases) for _, cases, _ in found)}" + "".join(f", loops of {tree}" for tree in pairs),
                            f"{max(shares):.1%}" if shares else "–"]))
    held = {agenda.key(case) for case in data["cases"]}
    missing = _still_missing(list(missing), data["cases"])
    left = [wanted for wanted in agenda.agenda().cases("ext4") if wanted.key() not in held]
    lines += [""] + [f"- Missing: {text}." for text in missing] if missing else []
    if left:
        lines += ["", "Some cases are not in the record yet: `bench/articles --list --continue` names them."]
    return lines


TABLES: dict[str, Callable[..., list[str]]] = {
    "loops": _loops, "accesses": _accesses, "treescan": _treescan, "tricks": _tricks, "listings": _listings, "starts": _starts, "turns": _turns,
    "languages": _languages, "programs": _programs, "first": _first, "conditions": _conditions,
}
