# SPDX-License-Identifier: MIT OR Apache-2.0

"""Sums, the largest entries and groups beside those of os.lstat, du and pandas."""

from __future__ import annotations

import collections
import errno
import math
import os
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from slowness import slowness

import statwalk


def below(root: Path) -> list[tuple[str, os.stat_result]]:
    """All entries of a tree, the root among them."""
    found = [(str(root), os.lstat(root))]
    for directory, directories, names in os.walk(root):
        for name in directories + names:
            path = os.path.join(directory, name)
            found.append((path, os.lstat(path)))
    return found


def bytes_of(entries: list[tuple[str, os.stat_result]]) -> tuple[int, int]:
    """Allocated and apparent bytes, each inode once."""
    inodes = {(status.st_dev, status.st_ino): status for _, status in entries}
    sized = [s for s in inodes.values() if stat.S_ISREG(s.st_mode) or stat.S_ISLNK(s.st_mode)]
    allocated = sum(status.st_blocks * 512 for status in inodes.values())
    return allocated, sum(status.st_size for status in sized)


def check_usage(usage: statwalk.Usage[str], entries: list[tuple[str, os.stat_result]]) -> None:
    assert (usage.allocated, usage.apparent) == bytes_of(entries)
    modes = [status.st_mode for _, status in entries]
    assert usage.entries == len(entries)
    assert usage.files == sum(map(stat.S_ISREG, modes))
    assert usage.directories == sum(map(stat.S_ISDIR, modes))
    times = [s.st_mtime_ns for _, s in entries if not stat.S_ISDIR(s.st_mode)]
    assert usage.newest_ns == max(times, default=None)


def test_a_directory_has_the_sums_of_what_is_below(tree: Path) -> None:
    usage = statwalk.du(tree)
    check_usage(usage, below(tree))
    assert usage.is_complete and usage.errors == ()
    assert usage.report is not None and usage.report.is_complete
    assert {child.name for child in usage} == {"a", "empty"}
    assert [child.allocated for child in usage] == sorted(
        (child.allocated for child in usage), reverse=True
    )
    for child in usage:
        assert child.path == os.path.join(tree, child.name)
        check_usage(child, below(Path(child.path)))
        assert child.children == () and child.report is None
    assert usage["a"].entries > usage["empty"].entries == 1
    with pytest.raises(KeyError):
        usage["fifo"]


def test_a_depth_decides_how_many_directories_come(tree: Path) -> None:
    def directories(usage: statwalk.Usage[str]) -> list[str]:
        return [usage.path, *(path for child in usage for path in directories(child))]

    every = [path for path, status in below(tree) if stat.S_ISDIR(status.st_mode)]
    for depth in range(5):
        expected = [p for p in every if p.count("/") - str(tree).count("/") <= depth]
        assert sorted(directories(statwalk.du(tree, depth))) == sorted(expected)


def test_a_deep_tree_needs_no_deep_stack(tmp_path: Path) -> None:
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    usage = statwalk.du(tmp_path, 5_000)
    depth = 0
    while usage.children:
        (usage,) = usage.children
        depth += 1
    assert depth == 3_000
    subprocess.run(["rm", "-rf", tmp_path], check=True)


def test_bytes_give_bytes(tree: Path) -> None:
    usage = statwalk.du(os.fsencode(tree))
    assert usage.path == os.fsencode(tree) and b"a" in [child.name for child in usage]
    (entry,) = statwalk.top(os.fsencode(tree), 1)
    assert isinstance(entry.path, bytes)


def test_the_sum_is_that_of_du(tree: Path, library: Path) -> None:
    for root in (tree, library):
        said = subprocess.run(["du", "-s", "-B1", root], check=True, stdout=subprocess.PIPE)
        assert statwalk.du(root).allocated == int(said.stdout.split()[0])


def test_the_largest_come_first_and_each_inode_once(tree: Path) -> None:
    (tree / "second").write_bytes(b"x" * 5_000_000)
    (tree / "first").write_bytes(b"x" * 6_000_000)
    os.link(tree / "first", tree / "z other name")
    top = statwalk.top(tree, 2)
    assert [entry.path for entry in top] == [str(tree / "first"), str(tree / "second")]
    assert top[0].stat.st_size == 6_000_000 and top[0].depth == 1
    # A file with a hole is the largest by its length alone.
    top = statwalk.top(tree, 1, by="apparent")
    assert [entry.name for entry in top[:]] == ["file2"] and top[0].depth == 2
    assert len(statwalk.top(tree, 0)) == 0
    entries = [e for e in below(tree) if not stat.S_ISDIR(e[1].st_mode)]
    inodes = {status.st_ino for _, status in entries}
    assert len(statwalk.top(tree, 10_000)) == len(inodes)


GROUPINGS = ("type", "category", "owner", "group", "age", "size", "depth")


@pytest.mark.parametrize("by", GROUPINGS)
def test_groups_have_all_entries(tree: Path, by: str) -> None:
    entries = below(tree)
    groups = statwalk.stats(tree, by=by)  # type: ignore[arg-type]
    assert sum(group.entries for group in groups) == len(entries)
    sums = sum(g.allocated for g in groups), sum(g.apparent for g in groups)
    assert sums == bytes_of(entries)
    assert len({group.key for group in groups}) == len(groups)
    order = [group.allocated for group in groups]
    assert order == sorted(order, reverse=True)


def test_groups_have_keys(tree: Path) -> None:
    (tree / "backup.tar.gz").touch()
    (tree / "a" / "holiday.JPG").touch()
    os.utime(tree / "fifo", (2**33, 2**33))

    def counts(by: str) -> dict[object, int]:
        return {g.key: g.entries for g in statwalk.stats(tree, by=by)}  # type: ignore[arg-type]

    entries = below(tree)
    types = counts("type")
    assert types[".tar.gz"] == types[".jpg"] == types["fifo"] == types["socket"] == 1
    assert (types["directory"], types["symlink"]) == (5, 4)
    assert counts("category")["image"] == 1
    owners = collections.Counter(status.st_uid for _, status in entries)
    assert counts("owner") == dict(owners)
    depths = collections.Counter(p.count("/") - str(tree).count("/") for p, _ in entries)
    assert counts("depth") == dict(depths)
    ages = counts("age")
    # The fifo is of the future, and file1 of 1969.
    assert (ages[0], ages[math.inf]) == (1, 1)
    sizes = counts("size")
    assert sizes[1 << 34] == 1
    assert sizes[1] == sum(status.st_size == 0 for _, status in entries)
    labels = {group.label for group in statwalk.stats(tree, by="size")}
    assert {"empty", "below 16.0 GiB"} <= labels
    assert "root" in {group.label for group in statwalk.stats("/etc", by="owner")}


def test_pandas_takes_groups(tree: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = pandas.DataFrame(statwalk.stats(tree))
    assert list(frame.columns) == ["key", "label", "entries", "apparent", "allocated"]
    assert frame["entries"].sum() == len(below(tree))


class Cells(HTMLParser):
    """The texts of the cells, and all tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag in ("td", "caption"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


TAGS = {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}


def test_a_picture_in_text_and_html(tmp_path: Path) -> None:
    for name in ("<img src=x onerror=alert(1)>", "line\nbreak\x1b[31m", "\udcff"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name} &amp;").write_bytes(b"x" * 10_000)
    for number in range(30):
        (tmp_path / str(number)).mkdir()
    text = repr(statwalk.du(tmp_path))
    assert text.startswith(f"{tmp_path}: ") and "… and 23 more lines" in text
    assert "line\\nbreak\\x1b[31m" in text and "\\udcff" in text
    for shown in (text, repr(statwalk.top(tmp_path)), repr(statwalk.stats(tmp_path))):
        assert all(line.isprintable() for line in shown.split("\n"))
        shown.encode()
    for answer in (statwalk.du(tmp_path), statwalk.top(tmp_path), statwalk.stats(tmp_path)):
        page = Cells(answer._repr_html_())
        assert page.tags <= TAGS and len(page.cells) > 3
    cells = Cells(statwalk.du(tmp_path)._repr_html_()).cells
    assert "<img src=x onerror=alert(1)>" in cells
    largest = Cells(statwalk.top(tmp_path)._repr_html_()).cells
    name = "<img src=x onerror=alert(1)>"
    assert os.path.join(tmp_path, name, f"{name} &amp;") in largest


def test_an_empty_answer_has_a_picture(tmp_path: Path) -> None:
    assert "1 entries" in repr(statwalk.du(tmp_path))
    assert "the 0 largest" in repr(statwalk.top(tmp_path))
    assert "<tbody></tbody>" in statwalk.top(tmp_path)._repr_html_()


def test_what_cannot_be_read_is_told(
    closed: Path, as_nobody: Callable[[str, Path], str]
) -> None:
    call = """
path = sys.argv[1]
usage = statwalk.du(path)
print(usage.is_complete, usage["a"].is_complete, usage["empty"].is_complete)
error, = usage.errors
print(error.errno, error.filename == path + "/a/b", error.operation)
print("at least" in repr(usage), "error: " in repr(usage), "error: " in usage._repr_html_())
for answer in (statwalk.top(path), statwalk.stats(path)):
    print(answer.report.is_complete, len(answer.errors), len(answer) > 3)
    print("as far as it could be read" in repr(answer))
"""
    told = as_nobody(call, closed).split("\n")
    assert told == [
        "False False True",
        f"{errno.EACCES} True open",
        "True True True",
        *("False 1 True", "True") * 2,
        "",
    ]


def test_wrong_arguments_are_refused(tree: Path) -> None:
    with pytest.raises(ValueError, match="by is"):
        statwalk.stats(tree, by="color")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="by is"):
        statwalk.top(tree, by="color")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        statwalk.du(tree / "missing")
    with pytest.raises(NotADirectoryError):
        statwalk.stats(tree / "fifo")


def time_of_ctrl_c() -> float:
    sent = math.inf

    def interrupt() -> None:
        nonlocal sent
        time.sleep(0.1)
        sent = time.monotonic()
        signal.raise_signal(signal.SIGINT)

    # Where SIGINT is ignored at its start, Python lets it be ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            while True:
                statwalk.stats("/usr", by="owner")
        return (time.monotonic() - sent) / slowness()
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_scan_at_once() -> None:
    # One of them, because a machine can have much else to do.
    assert any(time_of_ctrl_c() < 0.5 for _ in range(5))
