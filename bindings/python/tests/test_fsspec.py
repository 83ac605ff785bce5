# SPDX-License-Identifier: MIT OR Apache-2.0

"""The file system of fsspec beside the local one of fsspec itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

fsspec = pytest.importorskip("fsspec", reason="needs fsspec")

from statwalk.fsspec import StatwalkFileSystem  # noqa: E402


@pytest.fixture
def both() -> tuple[Any, Any]:
    return fsspec.filesystem("statwalk"), fsspec.filesystem("file")


def test_the_name_of_the_protocol_finds_it(tree: Path) -> None:
    assert isinstance(fsspec.filesystem("statwalk"), StatwalkFileSystem)
    system, path = fsspec.core.url_to_fs(f"statwalk://{tree}/a")
    assert isinstance(system, StatwalkFileSystem) and path == str(tree / "a")
    with fsspec.open(f"statwalk://{tree}/a/file7", "rb") as file:
        assert file.read() == b"x" * 7


@pytest.mark.parametrize("root", ["tree", "library"])
def test_find_says_what_fsspec_says(
    both: tuple[Any, Any], root: str, request: pytest.FixtureRequest
) -> None:
    ours, theirs = both
    path = str(request.getfixturevalue(root))
    for maxdepth in (None, 1, 2):
        for withdirs in (False, True):
            ask = {"maxdepth": maxdepth, "withdirs": withdirs}
            expected = theirs.find(path, detail=True, **ask)
            assert len(expected) > 3
            found = ours.find(path, detail=True, **ask)
            assert list(found) == list(expected)
            assert found == expected
            assert ours.find(path, **ask) == theirs.find(path, **ask)
    if root != "tree":
        # fsspec's own stumbles over a dangling link.
        assert ours.du(path) == theirs.du(path) > 0
        sizes = ours.du(path, total=False, withdirs=True)
        assert sizes == theirs.du(path, total=False, withdirs=True)


def test_glob_is_that_of_fsspec(tree: Path, both: tuple[Any, Any]) -> None:
    ours, theirs = both
    for pattern in ("**", "**/file1*", "a/*", "*/b/**", "nothing*"):
        assert ours.glob(f"{tree}/{pattern}") == theirs.glob(f"{tree}/{pattern}")


def test_paths_that_are_no_directories(tree: Path, both: tuple[Any, Any]) -> None:
    ours, theirs = both
    for path in (tree / "a" / "file7", tree / "missing", tree / "dangling", tree / "fifo"):
        assert ours.find(str(path)) == theirs.find(str(path)), path
    for system in both:
        with pytest.raises(ValueError):
            system.find(str(tree), maxdepth=0)
    assert ours.find(f"{tree}/to_directory") == theirs.find(f"{tree}/to_directory")


def test_one_scan_and_no_call_for_an_entry(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    real = os.stat

    def counted(*arguments: Any, **more: Any) -> os.stat_result:
        calls.append(arguments)
        return real(*arguments, **more)

    monkeypatch.setattr(os, "stat", counted)
    found = StatwalkFileSystem().find(str(tree / "a" / "b"), detail=True)
    assert len(found) == 4
    # Whether the path is a file and a directory.
    assert len(calls) <= 2
