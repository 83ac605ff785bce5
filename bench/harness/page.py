# SPDX-License-Identifier: MIT OR Apache-2.0
"""RESULTS.md and docs/bindings.md, made of their sources and a record.

The source is Markdown with a sentence a line. `{…}` is a figure of the record (`figure.py`), `{table NAME …}` alone in a
line one of the tables of `page_tables.py`. The sentences of a paragraph or of an item come into one line.
"""

import re
from pathlib import Path

from . import agenda, case_table, figure, page_tables, pictures, results, sources
from .programs import BENCH

SOURCE, PICTURES = BENCH / "page.md.in", BENCH / "pictures"
PAGES = {SOURCE: BENCH / "RESULTS.md", BENCH / "bindings.md.in": BENCH.parent / "docs/bindings.md"}
# What a reader takes in: lines of the page, characters of a paragraph (five lines of 110), names in a cell.
LINES_MAX, PARAGRAPH_MAX, NAMES_MAX = 300, 550, 6

_FIGURE = re.compile(r"\{([^{}]+)\}")
_LIST = re.compile(r"(- |\d+\. )")


def make(record: str, data: dict) -> tuple[dict[Path, str], list[str]]:
    """The pages and their pictures by path, and what is wrong with them."""
    prepare(data)
    files, faults = {PICTURES / name: drawn for name, drawn in pictures.drawn(data).items()}, []
    for source, page in PAGES.items():
        files[page], wrong = rendered(source, source.read_text(), record, data)
        faults += wrong + shape_faults(page.name, files[page])
    return files, faults


def differing(files: dict[Path, str]) -> list[str]:
    """The files that are not as they would be made.

    Marks of changed programs do not count: every change of a program would be one of the page.
    """
    return [str(path.relative_to(BENCH.parent)) for path, text in files.items()
            if not path.exists() or _unmarked(path.read_text()) != _unmarked(text)]


def _unmarked(text: str) -> str:
    return text.replace(f" {case_table.CHANGED}", "")


def write(files: dict[Path, str]) -> None:
    """Puts everything where it belongs."""
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def prepare(data: dict) -> None:
    """Marks changed ways, and puts cases in the order of the agenda: those that are measured anew come last in it."""
    present = sources.now()
    for case in data["cases"]:
        names = sources.changed(case, results.sittings(data), present)
        for result in case["results"]:
            if result["name"] in names:
                result["changed"] = True
    places = {wanted.key(): place for place, wanted in enumerate(agenda.agenda().cases("ext4"))}
    data["cases"].sort(key=lambda case: places.get(agenda.key(case), len(places)))


def rendered(path: Path, source: str, record: str, data: dict) -> tuple[str, list[str]]:
    """The page of a source, and the places where the record says otherwise."""
    lines: list[str] = []
    faults: list[str] = []
    paragraph: list[str] = []

    def end_paragraph() -> None:
        if paragraph:
            lines.append(" ".join(paragraph))
            paragraph.clear()

    for number, line in enumerate(source.splitlines(), 1):
        place = f"{path.relative_to(BENCH.parent)}:{number}"
        is_cell = line.startswith("|")
        if table := re.fullmatch(r"\{table ([^{}]+)\}", line):
            end_paragraph()
            lines += page_tables.table(table[1].split(), record, data)
            continue
        text = _FIGURE.sub(lambda m: _answer(m[1], data, is_cell, place, faults), line).strip()
        if is_cell or not line or line.startswith(("#", "!", "<!--")):
            end_paragraph()
            lines.append(text)
        elif text:
            if _LIST.match(text):
                end_paragraph()
            paragraph.append(text)
    end_paragraph()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n", faults


def _answer(text: str, data: dict, is_cell: bool, place: str, faults: list[str]) -> str:
    try:
        return figure.shown(text, data)
    except figure.Absent as reason:
        # A table shows a gap. A sentence without its figure says nothing.
        if is_cell:
            return reason.shown
        faults.append(f"{place}: {{{text}}}: {reason}")
    except figure.Refused as reason:
        faults.append(f"{place}: {{{text}}}: the record has {reason}")
    except figure.Misread as reason:
        faults.append(f"{place}: {{{text}}}: {reason}")
    return "?"


def shape_faults(name: str, text: str) -> list[str]:
    """Where the page asks more of a reader than it may."""
    lines = text.splitlines()
    faults = [f"{name}: {len(lines)} lines, and not {LINES_MAX}"] if len(lines) > LINES_MAX else []
    for number, line in enumerate(lines, 1):
        prose = re.sub(r"\]\([^)]*\)", "]", line)
        if not line.startswith(("|", "#", "!", "<!--")) and len(prose) > PARAGRAPH_MAX:
            faults.append(f"{name}:{number}: a paragraph of {len(prose)} characters, and not {PARAGRAPH_MAX}")
        if line.startswith("|"):
            most = max(cell.count(",") - len(re.findall(r"\d,\d{3}", cell)) + 1 for cell in line.split("|"))
            if most > NAMES_MAX:
                faults.append(f"{name}:{number}: a cell of {most} names")
    return faults
