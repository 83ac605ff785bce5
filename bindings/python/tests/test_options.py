# SPDX-License-Identifier: MIT OR Apache-2.0

"""Values of options: each means something, or is an error that names the option."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any

import pytest

import statwalk

FUNCTIONS: list[Callable[..., object]] = [
    statwalk.scan,
    statwalk.batches,
    statwalk.table,
    statwalk.du,
    statwalk.top,
    statwalk.stats,
]
#: They sum the whole, so they have no depth.
OF_THE_WHOLE = FUNCTIONS[3:]


class Three:
    def __index__(self) -> int:
        return 3


def names(tree: Path, **options: object) -> set[str]:
    scan: Callable[..., statwalk.Scan[str]] = statwalk.scan
    return {entry.name for entry in scan(str(tree), fields="type", **options)}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (-1, ValueError),
        (-(2**70), ValueError),
        (2**32, OverflowError),
        (2**70, OverflowError),
        (1.0, TypeError),
        (math.inf, TypeError),
        (math.nan, TypeError),
        ("2", TypeError),
    ],
)
def test_a_number_that_means_nothing_is_named(
    tree: Path, value: object, kind: type[Exception]
) -> None:
    def words(name: str) -> str:
        return f"{name} is a whole number from 0 to 4294967295, and not {re.escape(repr(value))}"

    for name in ("threads", "max_depth", "min_depth"):
        for function in FUNCTIONS:
            if name != "threads" and function in OF_THE_WHOLE:
                continue
            with pytest.raises(kind, match=words(name)):
                function(tree, **{name: value})
    du: Callable[..., object] = statwalk.du
    top: Callable[..., object] = statwalk.top
    with pytest.raises(kind, match=words("depth")):
        du(tree, value)
    with pytest.raises(kind, match=words("count")):
        top(tree, value)


def test_numbers_mean_what_they_say(tree: Path) -> None:
    everything = names(tree)
    for threads in (None, 0, 1, 3, Three()):
        assert names(tree, threads=threads) == everything
    for max_depth in (None, 2**32 - 1, 1_000):
        assert names(tree, max_depth=max_depth) == everything
    assert names(tree, max_depth=0) == set()
    assert names(tree, max_depth=1) < names(tree, max_depth=Three()) <= everything
    assert statwalk.du(tree, 0).children == ()
    assert len(statwalk.top(tree, 0)) == 0


def test_a_flag_is_true_or_false(tree: Path) -> None:
    of_entries = ("sort", "contents_first")
    flags = ("one_file_system", "follow_links", "kernel_file_systems", "gitignore")
    for name in flags + of_entries:
        for function in FUNCTIONS:
            if name in of_entries and function in OF_THE_WHOLE:
                continue
            with pytest.raises(TypeError, match=f"{name} is True or False, and not 'no'"):
                function(tree, **{name: "no"})


def counts(tree: Path, **given: Any) -> dict[str, int]:
    """How many entries each function has, without the root."""
    return {
        "scan": sum(1 for _ in statwalk.scan(tree, **given)),
        "batches": sum(len(batch) for batch in statwalk.batches(tree, **given)) - 1,
        "table": len(statwalk.table(tree, **given)) - 1,
        "du": statwalk.du(tree, **given).entries - 1,
        "top": len(statwalk.top(tree, **given)),
        "stats": sum(group.entries for group in statwalk.stats(tree, **given)) - 1,
    }


def test_patterns_are_one_or_several(tmp_path: Path) -> None:
    for name in ("keep.c", "keep.h", "drop.o", "also.a"):
        (tmp_path / name).touch()
    assert set(counts(tmp_path, exclude=()).values()) == {4}
    for one in ("*.o", b"*.o", PurePath("*.o"), ["*.o"], (b"*.o",), {PurePath("*.o")}):
        assert set(counts(tmp_path, exclude=one).values()) == {3}, one
    for several in (["*.o", b"*.a"], (pattern for pattern in ("*.o", "*.a"))):
        assert names(tmp_path, exclude=several) == {"keep.c", "keep.h"}
    # Names are bytes, and so are patterns.
    odd = os.fsencode(tmp_path) + b"/\xff.o"
    open(odd, "wb").close()
    for pattern in (b"\xff*", os.fsdecode(b"\xff*")):
        assert os.fsdecode(b"\xff.o") not in names(tmp_path, exclude=pattern)
    for wrong in (5, None, [5], bytearray(b"*.o"), ["*.o", None]):
        for function in FUNCTIONS:
            with pytest.raises(TypeError, match="exclude is a pattern or several"):
                function(tmp_path, exclude=wrong)
    # A shell completes a directory so, and that left out nothing.
    for slashed in ("build/", ["*.o", b"build/"]):
        for function in FUNCTIONS:
            with pytest.raises(ValueError, match="ends with a slash"):
                function(tmp_path, exclude=slashed)


def test_a_lone_text_is_one_field(tree: Path) -> None:
    scan: Callable[..., object] = statwalk.scan
    assert len(statwalk.table(tree, fields="size")) > 1
    for wrong in (b"size", 5, None, ["size", 5]):
        with pytest.raises(TypeError, match="fields is a name or several"):
            scan(tree, fields=wrong)


def test_gitignore(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("keep.c", "drop.o", "src/drop.o", "src/other.o"):
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("*.o\n")
    (tmp_path / "src" / ".gitignore").write_text("!other.o\n")
    assert names(tmp_path, gitignore=True) == {".gitignore", "keep.c", "src", "other.o"}
    found = counts(tmp_path, gitignore=True)
    # Those of `top` are no directories.
    assert found.pop("top") == 4
    assert set(found.values()) == {5}
    assert set(names(tmp_path, exclude="k*", gitignore=True)) == {".gitignore", "src", "other.o"}


def test_kernel_file_systems() -> None:
    for enters in (False, True):
        entries = statwalk.scan(
            "/", fields="type", max_depth=2, onerror="ignore", kernel_file_systems=enters
        )
        assert any(entry.path.startswith("/proc/") for entry in entries) == enters
