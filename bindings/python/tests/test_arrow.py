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
ALL = ("path", "path_raw", "name", "name_raw", "dir", "child", "stat")


def rows(table: Any) -> dict[bytes, dict[str, Any]]:
    return {row["path_raw"]: row for row in table.to_pylist()}


def check(found: dict[bytes, dict[str, Any]], tree: Path) -> None:
    entries = {os.fsencode(e.path): e for e in statwalk.scan(str(tree))}
    assert found.keys() == {*entries, os.fsencode(tree)}
    numbers = {row["child"]: path for path, row in found.items() if row["child"] is not None}
    for path, row in found.items():
        assert statwalk.unescape(row["path"]) == path
        assert statwalk.unescape(row["name"]) == row["name_raw"]
        if path == os.fsencode(tree):
            assert row["dir"] is None and row["type"] == "directory"
            continue
        status = entries[path].stat
        assert numbers[row["dir"]] == os.path.dirname(path)
        assert (row["child"] is None) == (row["type"] != "directory")
        assert row["name_raw"] == os.path.basename(path)
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
    table = pa.table(statwalk.table(paths, fields=ALL))
    table.validate(full=True)
    found = rows(table)
    for path in paths:
        row = found.pop(os.fsencode(path))
        assert row["dir"] is None and row["name_raw"] == os.fsencode(path)
        assert (row["child"] is None) == path.is_file()
        assert row["size"] == os.lstat(path).st_size
    below = {os.fsencode(entry.path) for entry in statwalk.scan(tree / "a" / "b")}
    assert found.keys() == below
    assert all(row["dir"] is not None for row in found.values())


def test_pyarrow(tree: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    columns = statwalk.table(tree, fields=ALL)
    for _ in range(2):
        # A table can be taken more than once, and lives without its source.
        table = pa.table(columns)
        table.validate(full=True)
        assert len(table) == len(columns)
    del columns
    check(rows(table), tree)
    mtime = {row["path"]: row["mtime"] for row in table.select(["path", "mtime"]).to_pylist()}
    stamp = mtime[f"{tree}/a/file1"]
    assert stamp.value == -5_000_000_001 if hasattr(stamp, "value") else isinstance(
        stamp, datetime.datetime
    )
    # As they come, for one consumer.
    stream = statwalk.batches(tree, fields=ALL)
    table = pa.RecordBatchReader.from_stream(stream).read_all()
    table.validate(full=True)
    check(rows(table), tree)
    with pytest.raises(ValueError, match="taken"):
        stream.__arrow_c_stream__()
    batches = [pa.record_batch(batch) for batch in statwalk.batches(tree, fields=ALL)]
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
    frame = pl.DataFrame(statwalk.table(tree, fields=ALL))
    check({row["path_raw"]: row for row in frame.to_dicts()}, tree)
    by_type = frame.group_by("type").len().to_dicts()
    assert {row["type"] for row in by_type} >= {"file", "directory", "symlink", "fifo", "socket"}


def test_nanoarrow(tree: Path) -> None:
    na = pytest.importorskip("nanoarrow", reason="needs nanoarrow")
    columns = statwalk.table(tree, fields=("path", "size"))
    array = na.Array(columns)
    assert len(array) == len(columns)
    found = {row["path"]: row["size"] for row in array.to_pylist()}
    assert found[f"{tree}/a/file3"] == 3
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


def test_the_columns_are_those_that_were_asked_for(tree: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")

    def names(*fields: str) -> list[str]:
        table = statwalk.table(tree, fields=fields)
        made = pa.table(table)
        made.validate(full=True)
        assert made.column_names == table.column_names
        assert len(made) == len(table) > 50
        return table.column_names

    assert names("size") == ["size"]
    assert names("mtime", "path", "size", "path") == ["mtime", "path", "size"]
    assert names("id") == ["ino", "dev"] and names("ino") == ["ino"]
    assert names("owner") == ["uid", "gid"] and names("gid", "owner") == ["gid", "uid"]
    assert names("dir", "child", "type") == ["dir", "child", "type"]
    assert names("name_raw", "path_raw") == ["name_raw", "path_raw"]
    assert names("stat")[0] == "type" and {"size", "uid", "mode", "mtime"} < {*names("stat")}
    assert "btime" not in names("stat") and names("stat", "btime")[-1] == "btime"
    # A loop has entries, which have no columns.
    for word in ("dir", "child", "path_raw", "sizes"):
        with pytest.raises(ValueError, match=f"no field '{word}'"):
            statwalk.scan(tree, fields=word)
    with pytest.raises(ValueError, match="no field 'sizes'"):
        statwalk.table(tree, fields=("path", "sizes"))


def test_text_leads_back_to_its_bytes(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path) + b"/names"
    os.mkdir(root)
    names = [b"\xff", b"\\x41", b"\\", b"plain", "größe".encode(), b"a\xed\xa0\x80\\xq", b"\\xFF"]
    for name in names:
        os.close(os.open(root + b"/" + name, os.O_CREAT))
    table = statwalk.table(root, fields=("name", "path", "name_raw"))
    texts = {row["name"] for row in table}
    assert {"\\xFF", "\\x5Cx41", "\\", "plain", "größe", "\\x5CxFF"} < texts
    for row in table:
        assert statwalk.unescape(row["name"]) == row["name_raw"]
        assert os.lstat(statwalk.unescape(row["path"]))
    assert {*names, root} == {row["name_raw"] for row in table}
    for package in ("polars", "duckdb"):
        pytest.importorskip(package, reason=f"needs {package}")
    import duckdb
    import polars as pl

    columns = table

    assert pl.DataFrame(table)["name"].str.len_chars().min() == 1
    found = duckdb.sql("select count(*) from columns where name like '%\\xFF'")
    assert found is not None and found.fetchall() == [(1,)] and len(columns) > 1


def test_a_table_shows_its_first_rows(tree: Path) -> None:
    table = statwalk.table(tree, fields=("path", "size", "mtime", "child"))
    lines = repr(table).splitlines()
    assert lines[0] == f"{len(table)} entries"
    assert lines[1].split() == ["path", "size", "mtime", "child"]
    assert lines[2].split()[0] == str(tree) and len(lines) == 11
    assert lines[-1] == f"  … and {len(table) - 8} more rows"
    shown = table._repr_html_()  # type: ignore[attr-defined]
    assert "<th>mtime</th>" in shown and str(tree) in shown
    assert repr(statwalk.table(tree, exclude="*")) == "0 entries"
    odd = statwalk.table(tree / "a" / "b", fields="name")
    assert "\n'" not in repr(odd) and "größe" in repr(odd)


def test_pandas_takes_tables_and_the_largest(tree: Path) -> None:
    pd = pytest.importorskip("pandas", reason="needs pandas")
    table = statwalk.table(tree, fields=("path", "size", "mtime", "dir", "type"))
    frame = pd.DataFrame(table)
    assert list(frame.columns) == table.column_names and len(frame) == len(table)
    assert frame["size"].sum() == statwalk_sum(tree)
    at = frame.set_index("path").loc[f"{tree}/a/file1"]
    assert at["mtime"] == -5_000_000_001 and at["type"] == "file"
    assert frame["dir"].isna().sum() == 1
    assert len(pd.DataFrame(statwalk.table(tree, exclude="*", fields=("path", "size")))) == 0
    largest = pd.DataFrame(statwalk.top(tree, 3, by="apparent"))
    assert list(largest.columns) == ["path", "allocated", "apparent", "entry"]
    assert largest["apparent"].iloc[0] == 1 << 33 and len(largest) == 3
