# SPDX-License-Identifier: MIT OR Apache-2.0

"""`walk` beside `os.walk`. The cases are those of WalkTests in CPython's test_os.py."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, AnyStr

import pytest

import statwalk

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
    for top in (str(tree), os.fsencode(tree), tree, f"{tree}/", "/usr/include"):
        expected = as_sets(os.walk(top, topdown))  # type: ignore[type-var]
        assert as_sets(statwalk.walk(top, topdown)) == expected  # type: ignore[type-var]


def test_all_of_usr() -> None:
    assert as_sets(statwalk.walk("/usr")) == as_sets(os.walk("/usr"))


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
    deep = tmp_path / "/".join(["d"] * 1500)
    deep.mkdir(parents=True)
    assert as_sets(statwalk.walk(str(tmp_path))) == as_sets(os.walk(str(tmp_path)))
