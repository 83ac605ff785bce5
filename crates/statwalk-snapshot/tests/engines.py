# SPDX-License-Identifier: MIT OR Apache-2.0
"""Opens every file of a snapshot with an engine, and prints the totals: `engines.py ENGINE FOLDER`."""

import glob
import sys

engine, folder = sys.argv[1:]
SQL = """SELECT count(*),
    CAST(sum(CASE WHEN counts AND "type" IN ('file', 'symlink') THEN size ELSE 0 END) AS BIGINT),
    CAST(sum(CASE WHEN counts THEN allocated ELSE 0 END) AS BIGINT)
    FROM entries"""
tables = ["entries", "dirs", "errors", "owners", "filesystems"]

if engine == "duckdb":
    import duckdb

    database = duckdb.connect()
    for table in tables:
        database.sql(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{folder}/{table}/*.parquet')")
        database.sql(f"SELECT * FROM {table}").fetchall()
    print(*database.sql(SQL).fetchall()[0])
elif engine == "polars":
    import polars

    frames = {table: polars.read_parquet(f"{folder}/{table}/*.parquet") for table in tables}
    print(*polars.SQLContext(frames).execute(SQL, eager=True).row(0))
else:
    import pyarrow.compute as compute
    import pyarrow.parquet as parquet

    for file in sorted(glob.glob(f"{folder}/*/*.parquet")):
        assert parquet.read_table(file).num_rows == parquet.ParquetFile(file).metadata.num_rows
    entries = parquet.read_table(f"{folder}/entries")
    counting = entries.filter(entries["counts"])
    sized = counting.filter(compute.is_in(counting["type"], value_set=__import__("pyarrow").array(["file", "symlink"])))
    print(entries.num_rows, compute.sum(sized["size"]).as_py() or 0, compute.sum(counting["allocated"]).as_py() or 0)
