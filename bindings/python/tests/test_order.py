# SPDX-License-Identifier: MIT OR Apache-2.0

"""Entries by path, contents first, and from a depth on."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import statwalk


def by_name(path: str, depth: int, is_contents_first: bool) -> Iterator[tuple[str, int]]:
    """What is below a directory, by sorted names."""
    for name in sorted(os.listdir(path), key=os.fsencode):
        below = os.path.join(path, name)
        here = below, depth + 1
        if not is_contents_first:
            yield here
        if os.path.isdir(below) and not os.path.islink(below):
            yield from by_name(below, depth + 1, is_contents_first)
        if is_contents_first:
            yield here


def grow(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    directories = [root]
    for number in range(200):
        name = f"{chance.choice('zyxcba')}{chance.choice(['', '.', '-', 'é'])}{number}"
        path = chance.choice(directories) / name
        if chance.random() < 0.4:
            path.mkdir()
            directories.append(path)
        else:
            path.touch()


@pytest.mark.parametrize("seed", range(5))
def test_the_order_is_that_of_sorted_names(tmp_path: Path, seed: int) -> None:
    grow(tmp_path, seed)
    for is_contents_first in (False, True):
        expected = list(by_name(str(tmp_path), 0, is_contents_first))
        given: dict[str, Any] = {"contents_first": True} if is_contents_first else {"sort": True}
        for threads in (1, 2, 7):
            entries = statwalk.scan(str(tmp_path), threads=threads, **given)
            assert [(e.path, e.depth) for e in entries] == expected
            for min_depth in (0, 2, 99):
                found = statwalk.scan(str(tmp_path), min_depth=min_depth, threads=threads, **given)
                deep = [path for path, depth in expected if depth >= min_depth]
                assert [entry.path for entry in found] == deep


def test_a_table_has_the_same_order(tmp_path: Path) -> None:
    grow(tmp_path, 7)
    paths = [str(tmp_path)] + [path for path, _ in by_name(str(tmp_path), 0, False)]
    table = statwalk.table(tmp_path, fields=("path", "type", "child"), sort=True)
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")

    rows = pyarrow.table(table).to_pylist()
    assert [row["path"] for row in rows] == paths
    assert all((row["child"] is None) == (row["type"] != "directory") for row in rows)
    deep = statwalk.table(tmp_path, fields="path", min_depth=2)
    assert len(deep) == sum(depth >= 2 for _, depth in by_name(str(tmp_path), 0, False))


def test_what_is_skipped_does_not_come(tmp_path: Path) -> None:
    grow(tmp_path, 3)
    top = [path for path, depth in by_name(str(tmp_path), 0, False) if depth == 1]
    scan = statwalk.scan(str(tmp_path), sort=True)
    found = []
    for entry in scan:
        found.append(entry.path)
        if entry.is_dir(follow_symlinks=False):
            scan.skip()
    assert found == top
    assert scan.report is not None and scan.report.is_complete


def test_nothing_is_skipped_with_contents_first(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with statwalk.scan(tmp_path, contents_first=True) as scan:
        assert next(scan).name == "b"
        with pytest.raises(ValueError, match="nothing can be skipped with contents first"):
            scan.skip()


def test_an_error_comes_in_its_place(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name / "in").mkdir(parents=True)
    os.symlink("loop", tmp_path / "b" / "loop")
    places = []
    for item in statwalk.scan(
        [tmp_path, tmp_path / "absent"], sort=True, fields="type", onerror="yield"
    ):
        places.append(item.filename if isinstance(item, OSError) else item.path)
    below = [path for path, _ in by_name(str(tmp_path), 0, False)]
    assert places == [*below, str(tmp_path / "absent")]
