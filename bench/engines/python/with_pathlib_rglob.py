# SPDX-License-Identifier: MIT OR Apache-2.0

"""Path.rglob: a Path for each entry and nothing else, so a stat for each."""

from pathlib import Path
from stat import S_ISDIR, S_ISREG

from found import record


def stated(found, path):
    # rglob says nothing of directories that it may not read; any other error
    # ends it.
    try:
        for entry in Path(path).rglob("*"):
            try:
                yield entry, entry.lstat()
            except OSError as error:
                found.fail(error)
    except OSError as error:
        found.fail(error)


def size(found, path):
    files = directories = total = 0
    for _, st in stated(found, path):
        if S_ISDIR(st.st_mode):
            directories += 1
            continue
        files += 1
        if S_ISREG(st.st_mode):
            total += st.st_size
    found.files, found.directories, found.bytes = files, directories, total


def count(found, path):
    size(found, path)
    found.bytes = 0


def records(found, path):
    keep = found.records.append
    for entry, st in stated(found, path):
        keep(record(entry.name, st))
