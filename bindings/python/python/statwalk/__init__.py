# SPDX-License-Identifier: MIT OR Apache-2.0

"""Entries of directory trees with their attributes, as fast as the machine allows.

>>> import statwalk
>>> sum(e.stat.st_size for e in statwalk.scan(".") if e.is_file(follow_symlinks=False)) > 0
True

`scan` gives entries one after another, `walk` stands in the place of `os.walk`,
`batches` and `table` give columns to pyarrow, polars, pandas and duckdb without a copy,
and `du`, `top` and `stats` answer with one object.

The fields that you ask for decide the system calls. Names are `str` or `bytes`, as the
path that you give. A scan that could not read everything says so at its end.
"""

from __future__ import annotations

import os
import sys

from ._statwalk import (
    Batch,
    Batches,
    Entry,
    IncompleteScan,
    Listing,
    Report,
    Scan,
    Stat,
    Table,
    __version__,
    _BITS,
    _COLUMNS,
    _Options,
    groups,
    largest,
    unescape,
    usage,
)
# An import of typing and dataclasses takes several times as long as all else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, AnyStr, Literal, TypedDict, Unpack, cast, overload

    from ._summaries import Group, Groups, LargestEntries, LargestEntry, Sums, Usage

    class _ScanOptions(TypedDict, total=False):
        fields: str | Iterable[str]
        onerror: Callable[[OSError], object] | Literal["yield", "ignore"] | None
        threads: int | None
        max_depth: int | None
        min_depth: int | None
        sort: bool
        contents_first: bool
        one_file_system: bool
        follow_links: bool
        kernel_file_systems: bool
        exclude: str | bytes | os.PathLike[Any] | Iterable[str | bytes | os.PathLike[Any]]
        gitignore: bool
else:

    def cast(_, value):
        return value

    def overload(function):
        return function

    def __getattr__(name):
        if name in _OF_SUMMARIES:
            from . import _summaries

            return getattr(_summaries, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "FIELDS",
    "Batch",
    "Batches",
    "Entry",
    "Group",
    "Groups",
    "IncompleteScan",
    "LargestEntries",
    "LargestEntry",
    "Report",
    "Scan",
    "Stat",
    "Table",
    "Usage",
    "batches",
    "du",
    "scan",
    "stats",
    "table",
    "top",
    "unescape",
    "walk",
]

#: The fields that a scan can read. "stat" stands for all that `os.stat_result` has.
FIELDS = tuple(name for name in _BITS if name != "stat")


_OF_SUMMARIES = ("Group", "Groups", "LargestEntries", "LargestEntry", "Usage")


def __dir__() -> list[str]:
    return sorted({*globals(), *_OF_SUMMARIES})


def _options(
    fields: str | Iterable[str],
    exclude: str | bytes | os.PathLike[Any] | Iterable[str | bytes | os.PathLike[Any]] = (),
    known: dict[str, int] = _BITS,
    **options: object,
) -> _Options:
    columns = 0
    for name in _several("fields", "name", fields, (str,)):
        if name not in known:
            names = ", ".join(known)
            raise ValueError(f"there is no field {name!r}; the fields are {names}")
        columns |= known[name]
    patterns = _several("exclude", "pattern", exclude, (str, bytes, os.PathLike))
    return _Options(columns, [os.fsencode(pattern) for pattern in patterns], **options)


def _several(option: str, noun: str, given: Any, kinds: tuple[type, ...]) -> list[Any]:
    """The items of an option. A lone one is no sequence of letters."""
    if isinstance(given, kinds):
        return [given]
    # An iterator has its items once, so the words have those that were read.
    is_one = isinstance(given, (bytes, bytearray, memoryview)) or not hasattr(given, "__iter__")
    items = [given] if is_one else list(given)
    for item in items:
        if not isinstance(item, kinds):
            raise TypeError(f"{option} is a {noun} or several, and not {item!r}")
    return items


def _roots(
    path: str | bytes | os.PathLike[Any] | Iterable[str | bytes | os.PathLike[Any]] | int,
) -> tuple[bytes | list[bytes] | int, bool]:
    """The roots as the module takes them, and whether they are text."""
    if isinstance(path, int):
        _audit(path)
        return path, True
    if isinstance(path, (str, bytes, os.PathLike)):
        one = os.fspath(path)
        _audit(one)
        return os.fsencode(one), isinstance(one, str)
    many = [os.fspath(root) for root in path]
    if not many:
        raise ValueError("there is no path")
    kinds = {isinstance(root, str) for root in many}
    if len(kinds) > 1:
        raise TypeError("paths are all str or all bytes")
    for root in many:
        _audit(root)
    return [os.fsencode(root) for root in many], True in kinds


def _audit(path: str | bytes | int) -> None:
    """Tells hooks of audits of a path, as `os.scandir` does. A hook can refuse it."""
    sys.audit("os.scandir", path)


@overload
def scan(path: int, **options: Unpack[_ScanOptions]) -> Scan[str]: ...
@overload
def scan(
    path: AnyStr | os.PathLike[AnyStr] | Iterable[AnyStr | os.PathLike[AnyStr]],
    **options: Unpack[_ScanOptions],
) -> Scan[AnyStr]: ...
def scan(
    path: Any,
    *,
    fields: str | Iterable[str] = "stat",
    onerror: Callable[[OSError], object] | Literal["yield", "ignore"] | None = None,
    threads: int | None = None,
    max_depth: int | None = None,
    min_depth: int | None = None,
    sort: bool = False,
    contents_first: bool = False,
    one_file_system: bool = False,
    follow_links: bool = False,
    kernel_file_systems: bool = False,
    exclude: str | bytes | os.PathLike[Any] | Iterable[str | bytes | os.PathLike[Any]] = (),
    gitignore: bool = False,
) -> Scan[Any]:
    """Gives all entries below a directory, or several, while threads read them.

    Of several paths, each that is no directory is an entry itself. An integer is the
    descriptor of an open directory, which can be closed after the call. Its paths begin with
    './', for the argument `dir_fd` of others.

    A directory comes before all that is below it; nothing else of the order is promised, unless
    you ask for `sort`. `skip()` of the iterator leaves out what is below the directory that came
    last; with `contents_first` it is a `ValueError`.
    Leaving the loop ends the scan when the iterator goes away, `close()` or `with` at once.

    An entry that cannot be read is an `OSError` with an `operation`. `onerror` is a
    function that gets it, or 'yield' for an item in its place, or 'ignore'. Without it,
    the loop gives all entries that can be read and then raises `IncompleteScan`.

    The options are these:

    - `threads`: The number of threads; 0 lets the scan decide.
    - `max_depth`: How deep the scan goes: a root has depth 0, and its entries have depth 1.
    - `min_depth`: Give nothing above this depth; the directories there are read all the same.
    - `sort`: Sort names within a directory by their bytes, and go into each at once.
    - `contents_first`: Give a directory after all that is below it, and sort names.
    - `one_file_system`: Stay on the file system of the root.
    - `follow_links`: A symbolic link stands for what it leads to, and nothing is listed twice.
    - `kernel_file_systems`: Enter /proc and its like, which are left out otherwise.
    - `exclude`: Leave out paths that fit a shell pattern, or one of several, as
      du --exclude does.
    - `gitignore`: Leave out what .gitignore files name, by the rules of git.

    >>> names = {e.name for e in scan(".", fields="type", max_depth=1)}
    """
    roots, is_text = _roots(path)
    options = _options(
        fields,
        exclude,
        threads=threads,
        max_depth=max_depth,
        min_depth=min_depth,
        sort=sort,
        contents_first=contents_first,
        one_file_system=one_file_system,
        follow_links=follow_links,
        kernel_file_systems=kernel_file_systems,
        gitignore=gitignore,
    )
    return Scan(roots, is_text, options, onerror)


def batches(
    path: str | bytes | os.PathLike[Any] | Iterable[str | bytes | os.PathLike[Any]] | int,
    *,
    fields: str | Iterable[str] = ("path", "stat"),
    onerror: Callable[[OSError], object] | None = None,
    threads: int | None = None,
    max_depth: int | None = None,
    min_depth: int | None = None,
    sort: bool = False,
    contents_first: bool = False,
    one_file_system: bool = False,
    follow_links: bool = False,
    kernel_file_systems: bool = False,
    exclude: str | bytes | os.PathLike[Any] | Iterable[str | bytes | os.PathLike[Any]] = (),
    gitignore: bool = False,
) -> Batches:
    """Gives all entries of a tree, or of several, and their roots, in columns.

    Of several paths, each that is no directory is an entry without `dir`. An integer is the
    descriptor of a directory, as for `scan`.

    A loop gives objects that pyarrow and others take by `__arrow_c_array__`. The whole is
    a stream by `__arrow_c_stream__`, for one consumer. Options are those of `scan`.

    `fields` are the columns, in their order. Beside the attributes there are `path` and
    `name`, which are text, and `path_raw` and `name_raw`, which are bytes. In text a byte that
    is no UTF-8 is `\\xNN`, and `unescape` gives the bytes. `child` is the number of a
    directory, and `dir` that of the directory in which an entry lies.
    """
    words = _several("fields", "name", fields, (str,))
    options = _options(
        words,
        exclude,
        known=_COLUMNS,
        threads=threads,
        max_depth=max_depth,
        min_depth=min_depth,
        sort=sort,
        contents_first=contents_first,
        one_file_system=one_file_system,
        follow_links=follow_links,
        kernel_file_systems=kernel_file_systems,
        gitignore=gitignore,
    )
    roots, is_text = _roots(path)
    return Batches(roots, is_text, options, words, onerror)


def table(
    path: str | bytes | os.PathLike[Any] | Iterable[str | bytes | os.PathLike[Any]] | int,
    *,
    fields: str | Iterable[str] = ("path", "stat"),
    onerror: Callable[[OSError], object] | None = None,
    threads: int | None = None,
    max_depth: int | None = None,
    min_depth: int | None = None,
    sort: bool = False,
    contents_first: bool = False,
    one_file_system: bool = False,
    follow_links: bool = False,
    kernel_file_systems: bool = False,
    exclude: str | bytes | os.PathLike[Any] | Iterable[str | bytes | os.PathLike[Any]] = (),
    gitignore: bool = False,
) -> Table:
    """Reads a whole tree into a table, which any number of consumers can take.

    Options are those of `scan`.

    >>> len(table(".", fields="size")) > 1
    True
    """
    return batches(
        path,
        fields=fields,
        onerror=onerror,
        threads=threads,
        max_depth=max_depth,
        min_depth=min_depth,
        sort=sort,
        contents_first=contents_first,
        one_file_system=one_file_system,
        follow_links=follow_links,
        kernel_file_systems=kernel_file_systems,
        gitignore=gitignore,
        exclude=exclude,
    ).read_all()


def du(
    path: AnyStr | os.PathLike[AnyStr],
    depth: int = 1,
    *,
    threads: int | None = None,
    one_file_system: bool = False,
    follow_links: bool = False,
    kernel_file_systems: bool = False,
    exclude: str | bytes | os.PathLike[Any] | Iterable[str | bytes | os.PathLike[Any]] = (),
    gitignore: bool = False,
) -> Usage[AnyStr]:
    """Sums a directory, and those below it down to a depth, as the program `du` does.

    What could not be read is in `errors` and `report`, and `is_complete` is False: then
    the sums are lower bounds. That is no exception. Options are those of `scan`.

    >>> du(".").allocated > 0
    True
    """
    path = os.fspath(path)
    _audit(path)
    options = _options(
        (),
        exclude,
        threads=threads,
        one_file_system=one_file_system,
        follow_links=follow_links,
        kernel_file_systems=kernel_file_systems,
        gitignore=gitignore,
    )
    from . import _summaries

    found, report, errors = usage(os.fsencode(path), isinstance(path, str), options, depth)
    return _summaries.usage(path, cast("list[Sums[AnyStr]]", found), report, errors)


def top(
    path: AnyStr | os.PathLike[AnyStr],
    count: int = 10,
    by: Literal["allocated", "apparent"] = "allocated",
    *,
    threads: int | None = None,
    one_file_system: bool = False,
    follow_links: bool = False,
    kernel_file_systems: bool = False,
    exclude: str | bytes | os.PathLike[Any] | Iterable[str | bytes | os.PathLike[Any]] = (),
    gitignore: bool = False,
) -> LargestEntries[AnyStr]:
    """Finds the largest entries that are no directories, each inode once.

    Errors are as with `du`. Options are those of `scan`.

    >>> [entry.path for entry in top(".", 3)] != []
    True
    """
    path = os.fspath(path)
    _audit(path)
    options = _options(
        (),
        exclude,
        threads=threads,
        one_file_system=one_file_system,
        follow_links=follow_links,
        kernel_file_systems=kernel_file_systems,
        gitignore=gitignore,
    )
    entries, report, errors = largest(
        os.fsencode(path), isinstance(path, str), options, count, by
    )
    from . import _summaries

    found = [_summaries.largest_entry(cast("Entry[AnyStr]", entry)) for entry in entries]
    return _summaries.LargestEntries(path, by, report, tuple(errors), found)


def stats(
    path: str | bytes | os.PathLike[Any],
    by: Literal["type", "category", "owner", "group", "age", "size", "depth"] = "type",
    *,
    threads: int | None = None,
    one_file_system: bool = False,
    follow_links: bool = False,
    kernel_file_systems: bool = False,
    exclude: str | bytes | os.PathLike[Any] | Iterable[str | bytes | os.PathLike[Any]] = (),
    gitignore: bool = False,
) -> Groups:
    """Sums all entries in groups. pandas takes the answer as it is.

    Errors are as with `du`. Options are those of `scan`.

    >>> sum(group.entries for group in stats(".", by="age")) > 1
    True
    """
    path = os.fspath(path)
    _audit(path)
    options = _options(
        (),
        exclude,
        threads=threads,
        one_file_system=one_file_system,
        follow_links=follow_links,
        kernel_file_systems=kernel_file_systems,
        gitignore=gitignore,
    )
    from . import _summaries

    found, report, errors = groups(os.fsencode(path), isinstance(path, str), options, by)
    made = [_summaries.group(by, one) for one in found]
    return _summaries.Groups(path, by, report, tuple(errors), made)


def walk(
    top: AnyStr | os.PathLike[AnyStr],
    topdown: bool = True,
    onerror: Callable[[OSError], object] | None = None,
    followlinks: bool = False,
) -> Iterator[tuple[AnyStr, list[AnyStr], list[AnyStr]]]:
    """Does what `os.walk` does, with the same arguments and tuples.

    It reads ahead, a few ten thousand names at first and more as it goes on, so it can know
    nothing of what you create meanwhile, but for directories that you add to a list of
    names. Removing a name from a list saves its tuples. What is below it may have been read
    by then; `scan` and its `skip` save that, too. It looks at each directory again
    when its turn comes, so it does not go through a link that has taken its place.

    For names in order, sort the lists, as with `os.walk`.

    >>> for directory, directories, names in walk("."):
    ...     directories.clear()
    """
    sys.audit("os.walk", top, topdown, onerror, followlinks)
    top = os.fspath(top)
    _audit(top)
    return _walk(top, topdown, onerror, followlinks)


def _walk(
    top: AnyStr,
    topdown: bool,
    onerror: Callable[[OSError], object] | None,
    followlinks: bool,
) -> Iterator[tuple[AnyStr, list[AnyStr], list[AnyStr]]]:
    join = os.path.join
    options = _options(("name", "type"), kernel_file_systems=True)
    listing = cast("Listing[AnyStr]", Listing(isinstance(top, str), options))
    stack: list[AnyStr | tuple[AnyStr, list[AnyStr], list[AnyStr]]] = [top]
    while stack:
        path = stack.pop()
        if isinstance(path, tuple):
            yield path
            continue
        found = listing.take(os.fsencode(path))
        if found is None:
            # It was not read ahead, or it is a link, or a name that the caller has added.
            if path is not top and os.path.islink(path):
                if followlinks:
                    yield from _walk(path, topdown, onerror, followlinks)
                continue
            try:
                found = listing.read(os.fsencode(path))
            except OSError as error:
                found = error
        if isinstance(found, OSError):
            if onerror is not None:
                onerror(found)
            continue
        if found is None:
            continue
        directories, names = found
        if topdown:
            before = directories[:]
            yield path, directories, names
            if len(directories) < len(before):
                left_out = set(before).difference(directories)
                listing.forget([os.fsencode(join(path, name)) for name in left_out])
        else:
            stack.append((path, directories, names))
        stack.extend(join(path, name) for name in reversed(directories))
