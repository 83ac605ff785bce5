# SPDX-License-Identifier: MIT OR Apache-2.0

"""Errors of a path, and fields that are not known."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import statwalk


@pytest.fixture
def listable(closed: Path) -> Path:
    """A tree with a directory, `listable`, of which others may read the names alone."""
    (closed / "listable" / "directory").mkdir(parents=True)
    (closed / "listable" / "file").write_text("text")
    (closed / "listable").chmod(0o744)
    return closed


def test_a_refused_field_is_the_error_of_its_entry(
    listable: Path, as_nobody: Callable[[str, Path], str]
) -> None:
    code = """
path = sys.argv[1]
fields = ["st_size", "st_mode", "st_ino", "st_mtime", "st_mtime_ns", "st_blocks", "st_uid"]
for e in statwalk.scan(path, fields=("stat", "btime"), onerror="ignore"):
    if "/listable/" in e.path:
        for field in fields:
            try: print(getattr(e.stat, field))
            except PermissionError as error:
                assert error.filename == e.path and error.errno == 13
                print("refused", end=" ")
        try: e.stat.st_birthtime
        except PermissionError: print("refused", end=" ")
        print(e.is_dir(), e.is_file())
    else:
        e.stat.st_size
try: print(sum(e.stat.st_size for e in statwalk.scan(path)))
except PermissionError as error: print(error.filename.split("/")[-2])
for e in statwalk.scan(path, fields="size", onerror="ignore"):
    try: e.stat.st_mtime
    except AttributeError as error: message = str(error)
print(message)
"""
    refused = "refused " * 8
    lines = as_nobody(code, listable).splitlines()
    assert sorted(lines[:2]) == [refused + "False True", refused + "True False"]
    assert lines[2:] == ["listable", "st_mtime is unknown: the scan was not asked for 'mtime'"]


def test_an_entry_that_was_left_out_is_asked(tmp_path: Path) -> None:
    (tmp_path / "mounted").mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(tmp_path / "mounted")]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("needs root, to mount")
    try:
        (found,) = statwalk.scan(tmp_path, fields=("stat", "btime"), one_file_system=True)
        expected = os.lstat(tmp_path / "mounted")
        for field in ("st_ino", "st_dev", "st_mode", "st_size", "st_nlink", "st_mtime_ns"):
            assert getattr(found.stat, field) == getattr(expected, field)
        assert found.stat.st_birthtime is None
        assert found.inode() == expected.st_ino
    finally:
        subprocess.run(["umount", str(tmp_path / "mounted")], check=True)


def test_a_closed_path_is_the_error_of_scandir(
    closed: Path, as_nobody: Callable[[str, Path], str]
) -> None:
    code = """
import sys
path = sys.argv[1] + "/a/b"
for call in (os.scandir, statwalk.scan, statwalk.batches, statwalk.table):
    try: call(path)
    except OSError as e: print(type(e).__name__, e.errno, e.filename == path)
# Of several, a root that is closed is an error like any other.
try: list(statwalk.scan([path, sys.argv[1] + "/a/file1"]))
except statwalk.IncompleteScan as e: print([type(error).__name__ for error in e.errors])
errors = []
list(statwalk.walk(path, onerror=errors.append))
print([type(error).__name__ for error in errors])
# A sum is a lower bound, and no exception.
print(statwalk.du(path).is_complete)
"""
    lines = as_nobody(code, closed).splitlines()
    assert lines[:4] == [f"PermissionError {errno.EACCES} True"] * 4
    assert lines[4:] == ["['PermissionError']", "['PermissionError']", "False"]


def test_is_dir_raises_what_scandir_raises(
    closed: Path, as_nobody: Callable[[str, Path], str]
) -> None:
    (closed / "into").symlink_to("a/b/c")
    code = """
import sys
def said(entry, method):
    try: return str(getattr(entry, method)())
    except OSError as error: return f"{type(error).__name__} {error.errno} {error.filename}"
both = []
for entries in os.scandir(sys.argv[1]), statwalk.scan(sys.argv[1], max_depth=1, onerror="ignore"):
    both.append({(e.name, m): said(e, m) for e in entries for m in ("is_dir", "is_file")})
print(both[0] == both[1], "PermissionError" in str(both[1]), "Error 40" in str(both[1]))
"""
    assert as_nobody(code, closed) == "True True True\n"


@pytest.mark.parametrize("locale", ["C", "en_US.ISO-8859-1"])
def test_names_are_those_of_the_encoding(tmp_path: Path, locale: str) -> None:
    names = [b"caf\xc3\xa9", b"caf\xe9", b"\xff", b"plain", b"\xf0\x9f\x90\x8d"]
    root = tmp_path / "names"
    root.mkdir()
    for name in names:
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(name)
    code = """
import os, statwalk, sys
root = sys.argv[1]
theirs = sorted(os.listdir(root))
ours = sorted(e.name for e in statwalk.scan(root))
assert ours == theirs, (ours, theirs)
for e in statwalk.scan(root):
    assert open(e.path, "rb").read() == os.fsencode(e.name)
assert [sorted(names) for _, _, names in statwalk.walk(root)] == [theirs]
assert sorted(os.path.basename(e.path) for e in statwalk.top(root)) == theirs
print(sys.getfilesystemencoding())
"""
    environment = {**os.environ, "LC_ALL": locale, "PYTHONCOERCECLOCALE": "0"}
    run = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", code, str(root)],
        capture_output=True,
        env=environment,
    )
    assert run.returncode == 0, run.stderr
    if run.stdout == b"utf-8\n":
        pytest.skip(f"needs the locale {locale}")


def test_a_path_that_a_pattern_leaves_out_has_nothing(tree: Path) -> None:
    usage = statwalk.du(tree, exclude="*")
    assert (usage.path, usage.name) == (str(tree), str(tree))
    assert (usage.allocated, usage.apparent, usage.entries, usage.files) == (0, 0, 0, 0)
    assert usage.newest_ns is None and usage.children == () and usage.is_complete
    assert "0 B in 0 entries" in repr(usage)


def test_a_sum_has_the_names_in_it(tree: Path) -> None:
    usage = statwalk.du(tree, depth=2)
    assert "a" in usage and "empty" in usage and "file1" not in usage and "b" not in usage
    assert "b" in usage["a"]
    assert usage.get("a") is usage["a"] and usage.get("absent") is None
    assert usage.get("absent", 7) == 7
    assert len(usage) == 2 and len(usage["empty"]) == 0 and usage["empty"]
    assert usage["a"] in usage


def test_names_alone_know_directories(tmp_path: Path) -> None:
    image, at = tmp_path / "image", tmp_path / "mounted"
    at.mkdir()
    with open(image, "wb") as file:
        file.truncate(8 << 20)
    make = ["mkfs.ext4", "-q", "-O", "^filetype", str(image)]
    for command in (make, ["mount", "-o", "loop", str(image), str(at)]):
        try:
            done = subprocess.run(command, capture_output=True).returncode == 0
        except FileNotFoundError:
            done = False
        if not done:
            pytest.skip("needs root and mkfs.ext4, to mount a file system without types")
    try:
        (at / "directory" / "below").mkdir(parents=True)
        # Names that are looked at last.
        (at / "file.jpg").touch()
        (at / "link.jpg").symlink_to("directory")
        os.mkfifo(at / "fifo.jpg")
        theirs = {e.path: e for e in os.scandir(at)}
        ours = {e.path: e for e in statwalk.scan(at, fields="name", max_depth=1)}
        assert theirs.keys() == ours.keys()
        for path, entry in ours.items():
            assert entry.is_symlink() == theirs[path].is_symlink()
            for follow in (True, False):
                other = theirs[path]
                assert entry.is_dir(follow_symlinks=follow) == other.is_dir(follow_symlinks=follow)
                assert entry.is_file(follow_symlinks=follow) == other.is_file(follow_symlinks=follow)
        assert {e.name for e in statwalk.scan(at, fields="name")} > {"below", "file.jpg"}
        # Who asks for types gets them, also where a few calls find all directories.
        hour_ago = time.time() - 3_600
        os.utime(at, (hour_ago, hour_ago))
        types = {row["name"]: row["type"] for row in statwalk.table(at, fields=("name", "type"))}
        found = [types[f"{name}.jpg"] for name in ("file", "link", "fifo")]
        assert found == ["file", "symlink", "fifo"]

        def walked(walk: Callable[[str], Any]) -> list[Any]:
            return sorted((path, sorted(inner), sorted(names)) for path, inner, names in walk(str(at)))

        assert walked(statwalk.walk) == walked(os.walk)
    finally:
        subprocess.run(["umount", str(at)], check=True)
