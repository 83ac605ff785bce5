# SPDX-License-Identifier: MIT OR Apache-2.0

"""`walk` beside `os.walk`. The cases are those of WalkTests in CPython's test_os.py."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, AnyStr

import pytest
from calm import check_calm

import statwalk
from statwalk import _statwalk

Walked = dict[Any, tuple[set[Any], set[Any]]]


def as_sets(walked: Iterable[tuple[AnyStr, list[AnyStr], list[AnyStr]]]) -> Walked:
    found: Walked = {}
    for path, directories, names in walked:
        assert path not in found
        found[path] = (set(directories), set(names))
        assert len(directories) + len(names) == len(found[path][0]) + len(found[path][1])
    return found


@pytest.mark.parametrize("topdown", [True, False])
def test_tuples_are_those_of_os_walk(tree: Path, topdown: bool) -> None:
    for top in (str(tree), os.fsencode(tree), tree, f"{tree}/"):
        expected = as_sets(os.walk(top, topdown))  # type: ignore[type-var]
        assert as_sets(statwalk.walk(top, topdown)) == expected  # type: ignore[type-var]


def test_all_of_usr() -> None:
    def check() -> None:
        assert as_sets(statwalk.walk("/usr")) == as_sets(os.walk("/usr"))

    check_calm("/usr", check)


def test_the_order_of_directories(tree: Path) -> None:
    seen: list[str] = []
    for path, directories, _ in statwalk.walk(str(tree)):
        assert not seen or os.path.dirname(path) in seen
        directories.sort()
        seen.append(path)
    # Depth first, in the order in which the caller leaves the names.
    order = [os.path.relpath(path, tree) for path in seen]
    assert order == [".", "a", "a/b", "a/b/c", "empty"]
    after: list[str] = []
    for path, directories, _ in statwalk.walk(str(tree), topdown=False):
        below = (os.path.join(path, name) for name in directories)
        assert all(name in after for name in below if not os.path.islink(name))
        after.append(path)
    assert after[-1] == str(tree)


def test_names_that_are_removed_or_added(tree: Path) -> None:
    def change(walk: Callable[..., Any]) -> Walked:
        found: Walked = {}
        for path, directories, names in walk(str(tree)):
            found[path] = (set(directories), set(names))
            if "b" in directories:
                directories.remove("b")
            if os.path.basename(path) == "empty":
                os.makedirs(os.path.join(path, "new", "below"), exist_ok=True)
                directories[:] = ["new"]
        return found

    assert change(statwalk.walk) == {
        path: (content if not path.endswith("/empty") else (set(), content[1]))
        for path, content in change(os.walk).items()
    }


@pytest.mark.parametrize("walk", [os.walk, statwalk.walk])
def test_names_that_appear_in_a_child_are_seen(walk: Callable[..., Any], tree: Path) -> None:
    walked = walk(str(tree))
    assert next(walked)[0] == str(tree)
    (tree / "a" / "new").mkdir()
    assert "new" in dict((path, names) for path, names, _ in walked)[str(tree / "a")]


def test_a_large_tree_is_read_in_few_scans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6_000):
        (tmp_path / f"{number % 60}" / f"{number}" / "below" / "deep").mkdir(parents=True)
    (tmp_path / "wide").mkdir()
    for number in range(5_000):
        (tmp_path / "wide" / f"{number}" / "below").mkdir(parents=True)
    made = []

    def listing(*arguments: Any) -> Any:
        made.append(_statwalk.Listing(*arguments))
        return made[-1]

    monkeypatch.setattr(statwalk, "Listing", listing)
    for topdown in (True, False):
        walked = as_sets(statwalk.walk(str(tmp_path), topdown))
        assert walked == as_sets(os.walk(str(tmp_path), topdown))
    assert [1 < one.scans < 50 for one in made] == [True, True]


def test_a_directory_that_is_left_out_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("kept", "left"):
        (tmp_path / "a" / name / "below").mkdir(parents=True)
    made = []

    def listing(*arguments: Any) -> Any:
        made.append(_statwalk.Listing(*arguments))
        return made[-1]

    monkeypatch.setattr(statwalk, "Listing", listing)
    walked = statwalk.walk(str(tmp_path))
    next(walked)
    _, directories, _ = next(walked)
    directories.remove("left")
    assert next(walked)[0] == str(tmp_path / "a" / "kept")
    # Both were read with the directory that they are in.
    assert made[0].scans == 2
    for path in (tmp_path / "a" / "left", tmp_path / "a" / "left" / "below"):
        assert made[0].take(os.fsencode(path)) is None


def test_an_error_of_a_directory_that_was_read_ahead(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"{number}" / "below").mkdir(parents=True)
    for walk in (os.walk, statwalk.walk):
        errors: list[OSError] = []
        walked = walk(str(tmp_path), onerror=errors.append)
        next(walked)
        gone = tmp_path / "7" / "below"
        gone.rmdir()
        (tmp_path / "7").rmdir()
        found = {path for path, _, _ in walked}
        assert [error.filename for error in errors] == [str(tmp_path / "7")]
        assert len(found) == 198
        gone.mkdir(parents=True)


def test_links_are_followed_on_request(tree: Path) -> None:
    expected = as_sets(os.walk(str(tree), followlinks=True))
    assert as_sets(statwalk.walk(str(tree), followlinks=True)) == expected
    assert str(tree / "to_directory" / "b") in expected


def test_a_missing_top_is_an_error_for_onerror(tree: Path) -> None:
    for walk in (os.walk, statwalk.walk):
        errors: list[OSError] = []
        assert list(walk(str(tree / "absent"), onerror=errors.append)) == []
        assert [error.filename for error in errors] == [str(tree / "absent")]
        assert list(walk(str(tree / "absent"))) == []
        assert list(walk(str(tree / "link"))) == []


def test_deeper_than_the_recursion_limit(tmp_path: Path) -> None:
    # Names are short, so that the whole path is one that the system takes.
    deep = str(tmp_path)
    for _ in range(1500):
        deep += "/d"
        os.mkdir(deep)
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(1_000)
        walked = as_sets(statwalk.walk(str(tmp_path)))
        # os.walk calls itself before Python 3.12.
        sys.setrecursionlimit(10_000)
        assert walked == as_sets(os.walk(str(tmp_path)))
    finally:
        sys.setrecursionlimit(limit)
        # pytest calls itself for each level when it removes it.
        subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)
