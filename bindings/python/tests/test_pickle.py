# SPDX-License-Identifier: MIT OR Apache-2.0

"""Answers and exceptions go to other processes and back."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import statwalk

FIELDS: tuple[str, ...] = ("st_mode", "st_ino", "st_dev", "st_nlink", "st_uid", "st_gid", "st_size", "st_blocks")
FIELDS += ("st_rdev", "st_mtime_ns", "st_atime_ns", "st_ctime_ns", "st_mtime", "st_birthtime")


def test_entries(tree: Path) -> None:
    os.utime(tree / "a" / "file3", ns=(-(2**63) - 10**9, 2**63 + 10**9))
    for entry in statwalk.scan(os.fsencode(tree), fields=("stat", "btime")):
        for other in (pickle.loads(pickle.dumps(entry)), copy.deepcopy(entry)):
            assert (other.path, other.name, other.depth) == (entry.path, entry.name, entry.depth)
            assert repr(other.stat) == repr(entry.stat)
            for field in FIELDS:
                assert getattr(other.stat, field) == getattr(entry.stat, field), field
        status = pickle.loads(pickle.dumps(entry.stat))
        assert status.st_mtime_ns == entry.stat.st_mtime_ns
    (narrow,) = statwalk.scan(tree / "a" / "b" / "c", fields="size")
    with pytest.raises(AttributeError, match="not asked for 'mtime'"):
        pickle.loads(pickle.dumps(narrow)).stat.st_mtime


def test_a_refusal_stays_one(closed: Path, as_nobody: Callable[[str, Path], str]) -> None:
    (closed / "a" / "b").chmod(0o744)
    code = """
import pickle, sys
for e in statwalk.scan(sys.argv[1] + "/a/b", onerror="ignore"):
    try: pickle.loads(pickle.dumps(e)).stat.st_size
    except PermissionError as error: print(error.filename == e.path)
"""
    assert set(as_nobody(code, closed).split()) == {"True"}


def answers(path: str) -> list[object]:
    by_size = statwalk.top(path, 3)
    groups = statwalk.stats(path, by="size")
    # Of one thread, because no order is promised.
    table = statwalk.table(path, fields=("path", "size", "mtime"), threads=1)
    return [statwalk.du(path), by_size, groups, table, groups.report]


def fails(path: str) -> None:
    list(statwalk.scan([path, f"{path}/absent"]))


def test_a_pool_of_processes(tree: Path) -> None:
    # Of a new interpreter: a fork would inherit the answers.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        ours, theirs = answers(str(tree)), pool.submit(answers, str(tree)).result()
        for one, other in zip(ours, theirs, strict=True):
            assert type(one) is type(other)
            assert repr(one) == repr(other)
        error = pool.submit(fails, str(tree)).exception()
        assert isinstance(error, statwalk.IncompleteScan)
        (missing,) = error.errors
        assert isinstance(missing, FileNotFoundError)
        assert missing.filename == f"{tree}/absent" and missing.operation == "open"  # type: ignore[attr-defined]
        assert error.report.unreadable == 1 and not error.report.is_complete


def test_tables(tree: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    table = statwalk.table(tree, fields=("path", "stat"))
    other = pickle.loads(pickle.dumps(table))
    assert pyarrow.table(other).equals(pyarrow.table(table))
    assert other.report == table.report and len(other) == len(table)
    (batch, *_) = statwalk.batches(tree)
    again = pickle.loads(pickle.dumps(batch))
    assert pyarrow.record_batch(again).equals(pyarrow.record_batch(batch))
    empty = statwalk.table(tree, exclude="*")
    assert len(pickle.loads(pickle.dumps(empty))) == 0
    for damaged in (b"", b"no table", pickle.dumps(table)[:500]):
        with pytest.raises(ValueError):
            statwalk.Table._restore(damaged, None)  # type: ignore[attr-defined]


def test_iterators_refuse(tree: Path) -> None:
    for running in (statwalk.scan(tree), statwalk.batches(tree)):
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled"):
                call(running)
        assert len(list(running)) > 0
