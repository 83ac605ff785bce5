# SPDX-License-Identifier: MIT OR Apache-2.0

"""Columns, as other packages read them."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import pytest
from calm import check_calm

import statwalk

KINDS = {"file": "f", "directory": "d", "symlink": "l"}


def rows(table: Any) -> dict[bytes, dict[str, Any]]:
    return {row["path"]: row for row in table.to_pylist()}


def check(found: dict[bytes, dict[str, Any]], tree: Path) -> None:
    entries = {os.fsencode(e.path): e for e in statwalk.scan(str(tree))}
    assert found.keys() == {*entries, os.fsencode(tree)}
    numbers = {row["id"]: path for path, row in found.items() if row["id"] is not None}
    for path, row in found.items():
        if path == os.fsencode(tree):
            assert row["dir"] is None and row["type"] == "directory"
            continue
        status = entries[path].stat
        assert numbers[row["dir"]] == os.path.dirname(path)
        assert (row["id"] is None) == (row["type"] != "directory")
        assert row["name"] == os.path.basename(path)
        assert (row["size"], row["ino"], row["mode"]) == (
            status.st_size,
            status.st_ino,
            status.st_mode,
        )
        assert row["allocated"] == status.st_blocks * 512
        assert (row["uid"], row["gid"], row["links"]) == (
            status.st_uid,
            status.st_gid,
            status.st_nlink,
        )


def test_several_paths(tree: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    paths = [*(tree / "a" / f"file{number}" for number in range(40)), tree / "a" / "b"]
    table = pa.table(statwalk.table(paths))
    table.validate(full=True)
    found = rows(table)
    for path in paths:
        row = found.pop(os.fsencode(path))
        assert row["dir"] is None and row["name"] == os.fsencode(path)
        assert (row["id"] is None) == path.is_file()
        assert row["size"] == os.lstat(path).st_size
    below = {os.fsencode(entry.path) for entry in statwalk.scan(tree / "a" / "b")}
    assert found.keys() == below
    assert all(row["dir"] is not None for row in found.values())


def test_pyarrow(tree: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    columns = statwalk.table(tree)
    for _ in range(2):
        # A table can be taken more than once, and lives without its source.
        table = pa.table(columns)
        table.validate(full=True)
        assert len(table) == len(columns)
    del columns
    check(rows(table), tree)
    mtime = {row["path"]: row["mtime"] for row in table.select(["path", "mtime"]).to_pylist()}
    stamp = mtime[os.fsencode(tree) + b"/a/file1"]
    assert stamp.value == -5_000_000_001 if hasattr(stamp, "value") else isinstance(
        stamp, datetime.datetime
    )
    # As they come, for one consumer.
    stream = statwalk.batches(tree)
    table = pa.RecordBatchReader.from_stream(stream).read_all()
    table.validate(full=True)
    check(rows(table), tree)
    with pytest.raises(ValueError, match="taken"):
        stream.__arrow_c_stream__()
    batches = [pa.record_batch(batch) for batch in statwalk.batches(tree)]
    for batch in batches:
        batch.validate(full=True)
    check(rows(pa.Table.from_batches(batches)), tree)
    assert statwalk.batches(tree, fields="size").__arrow_c_schema__() is not None


def test_buffers_are_not_copied(tree: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    columns = statwalk.table(tree)
    first, second = (
        pa.table(columns).column("size").chunk(0).buffers()[1].address for _ in range(2)
    )
    assert first == second


def test_pyarrow_reads_usr_while_it_is_scanned() -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")

    def check() -> None:
        stream = statwalk.batches("/usr", fields=("path", "size"))
        count = sum(len(batch) for batch in pa.RecordBatchReader.from_stream(stream))
        assert count == 1 + sum(1 for _ in statwalk.scan("/usr", fields="type"))

    check_calm("/usr", check)
    # One that is left early ends its scan.
    reader = pa.RecordBatchReader.from_stream(statwalk.batches("/usr"))
    reader.read_next_batch()
    reader.close()


def test_polars(tree: Path) -> None:
    pl = pytest.importorskip("polars", reason="needs polars")
    frame = pl.DataFrame(statwalk.table(tree))
    check({row["path"]: row for row in frame.to_dicts()}, tree)
    by_type = frame.group_by("type").len().to_dicts()
    assert {row["type"] for row in by_type} >= {"file", "directory", "symlink", "fifo", "socket"}


def test_nanoarrow(tree: Path) -> None:
    na = pytest.importorskip("nanoarrow", reason="needs nanoarrow")
    columns = statwalk.table(tree, fields=("path", "size"))
    array = na.Array(columns)
    assert len(array) == len(columns)
    found = {row["path"]: row["size"] for row in array.to_pylist()}
    assert found[os.fsencode(tree) + b"/a/file3"] == 3
    stream = na.c_array_stream(statwalk.batches(tree))
    assert stream.get_schema().n_children > 10
    assert sum(len(array) for array in stream) == len(columns)


def test_pandas(tree: Path) -> None:
    pd = pytest.importorskip("pandas", minversion="3", reason="needs pandas")
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    frame = pd.DataFrame.from_arrow(statwalk.table(tree, fields=("path", "size")))
    assert frame["size"].sum() == statwalk_sum(tree)


def test_duckdb(tree: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    columns = statwalk.table(tree, fields=("path", "size"))
    found = duckdb.sql("select sum(size) from columns").fetchall()
    assert found[0][0] == statwalk_sum(tree) and len(columns) > 1


def statwalk_sum(tree: Path) -> int:
    below = sum(e.stat.st_size for e in statwalk.scan(tree))
    return below + tree.lstat().st_size


def test_an_incomplete_stream_fails(tree: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    if os.geteuid() == 0:
        # Root may read everything: a scan that was stopped is incomplete for root, too.
        stopped = statwalk.batches("/usr")
        next(stopped)
        stopped.close()
        assert stopped.report is not None and stopped.report.is_interrupted
        return
    (tree / "a" / "b").chmod(0)
    with pytest.raises(OSError, match="incomplete"):
        pa.RecordBatchReader.from_stream(statwalk.batches(tree)).read_all()
    (tree / "a" / "b").chmod(0o755)


def test_a_column_that_was_not_asked_for_is_not_there(tree: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    names = pa.table(statwalk.table(tree, fields="size")).column_names
    assert names == ["dir", "id", "type", "size"]
