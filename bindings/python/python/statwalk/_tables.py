# SPDX-License-Identifier: MIT OR Apache-2.0

"""Rows of a table, for people and for pandas."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from ._statwalk import Table
from ._summaries import _html, _more, _shown

_TIMES = ("mtime", "atime", "ctime", "btime")
#: Rows that are made at once.
_SOME = 4_096
#: Rows that a preview has.
_FEW = 8


def dicts(table: Table) -> Iterator[dict[str, Any]]:
    """One row after another."""
    names = table.column_names
    for begin in range(0, len(table), _SOME):
        for row in table._rows(begin, _SOME):
            yield dict(zip(names, row, strict=True))


def preview(table: Table) -> str:
    """The first rows, with the names of the columns above them."""
    if len(table) == 0:
        return _heading(table)
    cells = [tuple(table.column_names), *_cells(table, _FEW)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [column[-1:] and column[-1].isdigit() for column in zip(*cells, strict=True)]
    lines = [_heading(table)]
    for row in cells:
        aligned = (
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(row, widths, numeric, strict=True)
        )
        lines.append(("  " + "  ".join(aligned)).rstrip())
    if len(table) > _FEW:
        lines.append("  " + _more(len(table) - _FEW, "rows"))
    return "\n".join(lines)


def preview_html(table: Table) -> str:
    """The same for a notebook."""
    rows = _cells(table, 2 * _FEW + 5)
    return _html(_heading(table), table.column_names, rows, (), len(table))


def _heading(table: Table) -> str:
    rows = len(table)
    report = table.report
    end = "" if report is None or report.is_complete else ", as far as they could be read"
    return f"{rows:,} {'entry' if rows == 1 else 'entries'}{end}"


def _cells(table: Table, count: int) -> list[tuple[str, ...]]:
    names = table.column_names
    return [
        tuple(_cell(name, value) for name, value in zip(names, row, strict=True))
        for row in table._rows(0, count)
    ]


def _cell(name: str, value: object) -> str:
    if value is None:
        return "–"
    if name in _TIMES and isinstance(value, int):
        return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(value // 10**9))
    if isinstance(value, (str, bytes)):
        return _shown(value)
    return str(value)
