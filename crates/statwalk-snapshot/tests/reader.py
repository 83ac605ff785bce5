# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads a snapshot by docs/snapshot.md alone: `reader.py FOLDER` prints totals, `reader.py FOLDER PATH` a directory."""

import hashlib
import json
import os
import re
import sys

import pyarrow as pa
import pyarrow.parquet as pq


def raw(text):
    """The bytes of a name or a path."""
    return re.sub(rb"\\x([0-9A-F]{2})", lambda found: bytes([int(found[1], 16)]), text.encode())


class Snapshot:
    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "_manifest.json"), encoding="utf-8") as file:
            self.manifest = json.load(file)
        if self.manifest["format"] != "statwalk-snapshot" or self.manifest["version"]["major"] != 1:
            raise ValueError("not a snapshot that this program reads")

    def files(self, table):
        return self.manifest["tables"][table]

    def verify(self):
        for table in self.manifest["tables"]:
            for file in self.files(table):
                with open(os.path.join(self.folder, file["name"]), "rb") as bytes_of:
                    if hashlib.sha256(bytes_of.read()).hexdigest() != file["sha256"]:
                        raise ValueError(file["name"] + " has another hash")

    def rows(self, table, begin, count, columns=None):
        """Some rows of a table, from its row groups that have them."""
        found, first = [], 0
        for file in self.files(table):
            if begin < first + file["rows"] and first < begin + count:
                parquet = pq.ParquetFile(os.path.join(self.folder, file["name"]))
                row = first
                for group in range(parquet.metadata.num_row_groups):
                    rows = parquet.metadata.row_group(group).num_rows
                    start, end = max(begin, row), min(begin + count, row + rows)
                    if start < end:
                        part = parquet.read_row_group(group, columns=columns)
                        found.append(part.slice(start - row, end - start))
                    row += rows
            first += file["rows"]
        return pa.concat_tables(found).to_pylist() if found else []

    def dir(self, number):
        return self.rows("dirs", number, 1)[0]

    def children(self, directory):
        return self.rows("entries", directory["first_entry"], directory["entries"])

    def find(self, path):
        """The row of a path in bytes; None where there is none."""
        for root, row in zip(self.manifest["scan"]["roots"], self.manifest["root_rows"]):
            start = raw(root["path"])
            if row is None or not (path == start or path.startswith(start.rstrip(b"/") + b"/")):
                continue
            entry = self.rows("entries", row, 1)[0]
            for name in filter(None, path[len(start):].split(b"/")):
                names = {} if entry["child"] is None else {raw(e["name"]): e for e in self.children(self.dir(entry["child"]))}
                entry = names.get(name)
                if entry is None:
                    break
            if entry is not None:
                return entry
        return None

    def totals(self):
        """The names, and the bytes of those that count."""
        entries = size = allocated = 0
        for file in self.files("entries"):
            for row in self.rows_of(file):
                entries += 1
                if row["counts"]:
                    if row["type"] in ("file", "symlink"):
                        size += int(row["size"] if row["size"] is not None else row["size_big"] or 0)
                    allocated += int(row["allocated"] if row["allocated"] is not None else row["allocated_big"] or 0)
        return entries, size, allocated

    def rows_of(self, file):
        return pq.read_table(os.path.join(self.folder, file["name"])).to_pylist()


if __name__ == "__main__":
    snapshot = Snapshot(sys.argv[1])
    snapshot.verify()
    if len(sys.argv) == 2:
        print(*snapshot.totals())
    else:
        found = snapshot.find(os.fsencode(sys.argv[2]))
        print(found["below_entries"], found["below_size"], len(snapshot.children(snapshot.dir(found["child"]))))
