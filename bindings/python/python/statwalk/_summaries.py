# SPDX-License-Identifier: MIT OR Apache-2.0

"""What `du`, `top` and `stats` answer."""

from __future__ import annotations

import grp
import html
import math
import os
import pwd
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import AnyStr, Generic, NamedTuple, TypeVar, overload

from ._statwalk import Entry, Report, Stat

_Path = TypeVar("_Path", bound=str | bytes)
_Item = TypeVar("_Item")
_Default = TypeVar("_Default")
#: What is in it, the columns, and a row for each item.
_Table = tuple[str, tuple[str, ...], Sequence[tuple[str, ...]]]

#: How many lines a `repr` has.
_LINES = 10


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Usage(Generic[AnyStr]):
    """The sums of a directory with all that is below it, in bytes and names.

    An inode with several names counts its bytes once. `children` are the directories in
    it, the largest first; empty at the depth that was asked for.
    """

    path: AnyStr
    name: AnyStr
    #: The space that it takes.
    allocated: int
    #: The lengths of its files and symbolic links.
    apparent: int
    #: Names, its own among them.
    entries: int
    files: int
    directories: int
    #: The last modification of anything but directories, in nanoseconds since 1970.
    newest_ns: int | None
    #: Whether all of it was read. If not, the sums are lower bounds.
    is_complete: bool
    children: tuple[Usage[AnyStr], ...] = ()
    #: Of the scan, with its first thousand errors. Only the directory that was asked for
    #: has them.
    report: Report | None = None
    errors: tuple[OSError, ...] = ()

    def __iter__(self) -> Iterator[Usage[AnyStr]]:
        return iter(self.children)

    def __len__(self) -> int:
        return len(self.children)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        return any(name in (child.name, child) for child in self.children)

    def __getitem__(self, name: AnyStr) -> Usage[AnyStr]:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    @overload
    def get(self, name: AnyStr) -> Usage[AnyStr] | None: ...
    @overload
    def get(self, name: AnyStr, default: _Default) -> Usage[AnyStr] | _Default: ...
    def get(self, name: AnyStr, default: object = None) -> object:
        """The directory in it with a name, or the default."""
        return next((child for child in self.children if child.name == name), default)

    def _heading(self) -> str:
        return f"{_shown(self.path)}: {_total(self)} in {self.entries:,} entries"

    def _rows(self) -> list[tuple[str, str, str]]:
        return [
            (_human(child.allocated), f"{child.entries:,}", _shown(child.name))
            for child in self.children
        ]

    def __repr__(self) -> str:
        return _text(self._heading(), self._rows(), self.errors)

    def _repr_html_(self) -> str:
        columns = ("allocated", "entries", "directory")
        return _html(self._heading(), columns, self._rows(), self.errors)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Ranking(Sequence[_Item], Generic[_Path, _Item]):
    """The largest things of a tree by some property, as a sequence and a table."""

    path: _Path
    by: str
    report: Report
    errors: tuple[OSError, ...]
    _items: list[_Item] = field(default_factory=list)

    @overload
    def __getitem__(self, index: int) -> _Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[_Item]: ...
    def __getitem__(self, index: int | slice) -> _Item | list[_Item]:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    @abstractmethod
    def _table(self) -> _Table: ...

    def _heading(self, what: str) -> str:
        end = "" if self.report.is_complete else ", as far as it could be read"
        return f"{_shown(self.path)}: {what}{end}"

    def __repr__(self) -> str:
        what, _, rows = self._table()
        return _text(self._heading(what), rows, self.errors)

    def _repr_html_(self) -> str:
        what, columns, rows = self._table()
        return _html(self._heading(what), columns, rows, self.errors)


@dataclass(frozen=True, slots=True)
class LargestEntry(Generic[AnyStr]):
    """An entry that is no directory, with its bytes. `entry` has its other attributes."""

    path: AnyStr
    allocated: int
    apparent: int
    entry: Entry[AnyStr]

    @property
    def name(self) -> AnyStr:
        return self.entry.name

    @property
    def stat(self) -> Stat:
        return self.entry.stat

    @property
    def depth(self) -> int:
        return self.entry.depth

    def __fspath__(self) -> AnyStr:
        return self.path


class LargestEntries(_Ranking[AnyStr, LargestEntry[AnyStr]]):
    """The largest entries of a tree that are no directories, the largest first."""

    __slots__ = ()

    def _table(self) -> _Table:
        rows = [
            (_human(e.apparent if self.by == "apparent" else e.allocated), _shown(e.path))
            for e in self
        ]
        return f"the {len(self):,} largest by {self.by} bytes", (self.by, "path"), rows


def largest_entry(entry: Entry[AnyStr]) -> LargestEntry[AnyStr]:
    """An entry with its bytes."""
    return LargestEntry(entry.path, entry.stat.st_blocks * 512, entry.stat.st_size, entry)


class Group(NamedTuple):
    """The entries with one value of a property.

    `key` is that value: the type or the ending of a file with its dot; a category; the
    number of an owner or a group; the most seconds since the last modification, 0 for
    times in the future and `math.inf` for the oldest; the size in bytes that all of them
    are below; the depth. It is None where the attributes could not be read.
    """

    key: str | int | float | None
    label: str
    entries: int
    apparent: int
    allocated: int


class Groups(_Ranking[str | bytes, Group]):
    """All entries of a tree in groups, those with the most allocated bytes first."""

    __slots__ = ()

    def _table(self) -> _Table:
        rows = [(_human(group.allocated), f"{group.entries:,}", group.label) for group in self]
        return f"{len(self):,} groups by {self.by}", ("allocated", "entries", self.by), rows


# As the native module gives them.
Sums = tuple[int, AnyStr, int, int, int, int, int, int | None, bool]


def usage(
    path: AnyStr, found: list[Sums[AnyStr]], report: Report, errors: list[OSError]
) -> Usage[AnyStr]:
    """Makes a tree of sums that stand each before what is in it."""
    paths: list[AnyStr] = []
    above: list[AnyStr] = []
    for depth, name, *_ in found:
        del above[depth:]
        # The directory that was asked for has the caller's path.
        above.append(os.path.join(above[-1], name) if above else path)
        paths.append(above[-1])
    # What is in a directory stands behind it, so it is there first.
    waiting: dict[int, list[Usage[AnyStr]]] = {}
    for here, sums in zip(reversed(paths), reversed(found), strict=True):
        depth, name, allocated, apparent, entries, files, directories, newest_ns, is_whole = sums
        children = waiting.pop(depth + 1, [])
        children.sort(key=lambda child: (-child.allocated, child.name))
        is_root = depth == 0
        directory = Usage(
            here,
            path if is_root else name,
            allocated,
            apparent,
            entries,
            files,
            directories,
            newest_ns,
            report.is_complete if is_root else is_whole,
            tuple(children),
            report if is_root else None,
            tuple(errors) if is_root else (),
        )
        waiting.setdefault(depth, []).append(directory)
    if not waiting:
        # A pattern has left the path itself out.
        return Usage(path, path, 0, 0, 0, 0, 0, None, report.is_complete, (), report, tuple(errors))
    return waiting[0][0]


def group(
    by: str, found: tuple[str | int | float | None, str | None, int, int, int]
) -> Group:
    """A group with a label for people."""
    key, label, entries, apparent, allocated = found
    return Group(key, _label(by, key) if label is None else label, entries, apparent, allocated)


def _label(by: str, key: str | int | float | None) -> str:
    if key is None:
        return "unknown"
    if by == "type":
        return _shown(str(key)) or "no extension"
    if isinstance(key, str):
        return key
    if by == "owner":
        return _account(lambda: pwd.getpwuid(int(key)).pw_name, key)
    if by == "group":
        return _account(lambda: grp.getgrgid(int(key)).gr_name, key)
    if by == "age":
        if key == 0:
            return "in the future"
        return "older" if key == math.inf else f"within {_span(int(key))}"
    if by == "size":
        return "empty" if key == 1 else f"below {_human(int(key))}"
    return str(key)


def _account(name: Callable[[], str], number: float) -> str:
    try:
        return _shown(name())
    except KeyError:
        return str(number)


def _span(seconds: int) -> str:
    for unit, length in (("year", 365 * 86_400), ("day", 86_400), ("hour", 3_600)):
        if seconds % length == 0:
            count = seconds // length
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return f"{seconds} s"


def _human(count: int) -> str:
    """Three digits and a unit of 1,024, as the program has them."""
    if count < 1_024:
        return f"{count} B"
    units = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
    power = min((count.bit_length() - 1) // 10, len(units))
    # A thousand and more of a unit has four digits, and 1023.9 of one is one of the next.
    for power in (power, min(power + 1, len(units))):
        value = count / 1_024**power
        if round(value) < 1_024 or power == len(units):
            break
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {units[power - 1]}"


def _total(whole: Usage[AnyStr]) -> str:
    bound = "" if whole.is_complete else "at least "
    return bound + _human(whole.allocated)


def _shown(text: str | bytes) -> str:
    """A name that no terminal takes for anything else."""
    text = os.fsdecode(text)
    return text if text.isprintable() else repr(text)[1:-1]


def _more(count: int, what: str) -> str:
    return f"… and {count:,} more {what}"


def _text(heading: str, rows: Sequence[tuple[str, ...]], errors: Sequence[OSError]) -> str:
    lines = [heading]
    shown = rows[:_LINES]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)][:-1]
    for *figures, name in shown:
        aligned = (figure.rjust(width) for figure, width in zip(figures, widths, strict=True))
        lines.append("  " + "  ".join([*aligned, name]))
    if len(rows) > len(shown):
        lines.append("  " + _more(len(rows) - len(shown), "lines"))
    lines += [f"  error: {_shown(str(error))}" for error in errors[:3]]
    if len(errors) > 3:
        lines.append("  " + _more(len(errors) - 3, "errors"))
    return "\n".join(lines)


def _html(
    heading: str,
    columns: Iterable[str],
    rows: Sequence[tuple[str, ...]],
    errors: Sequence[OSError],
    count: int | None = None,
) -> str:
    def line(cells: Iterable[str], kind: str) -> str:
        return (
            "<tr>" + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells) + "</tr>"
        )

    body = "".join(line(row, "td") for row in rows[: 2 * _LINES])
    left = (len(rows) if count is None else count) - min(len(rows), 2 * _LINES)
    more = f"<p>{_more(left, 'lines')}</p>" if left > 0 else ""
    said = "".join(f"<p>error: {html.escape(_shown(str(error)))}</p>" for error in errors[:3])
    return (
        f"<table><caption>{html.escape(heading)}</caption><thead>{line(columns, 'th')}</thead>"
        f"<tbody>{body}</tbody></table>{more}{said}"
    )
