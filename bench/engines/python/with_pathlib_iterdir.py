# SPDX-License-Identifier: MIT OR Apache-2.0

"""Path.iterdir and Path.lstat, and a stack of directories."""

from pathlib import Path
from stat import S_ISDIR, S_ISREG

from found import record


def stated(found, path):
    try:
        for entry in path.iterdir():
            try:
                yield entry, entry.lstat()
            except OSError as error:
                found.fail(error)
    except OSError as error:
        found.fail(error)


def size(found, path):
    files = directories = total = 0
    waiting = [Path(path)]
    while waiting:
        for entry, st in stated(found, waiting.pop()):
            if S_ISDIR(st.st_mode):
                directories += 1
                waiting.append(entry)
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
    waiting = [Path(path)]
    while waiting:
        for entry, st in stated(found, waiting.pop()):
            keep(record(entry.name, st))
            if S_ISDIR(st.st_mode):
                waiting.append(entry)


def directory(found, path):
    for _, st in stated(found, Path(path)):
        if S_ISDIR(st.st_mode):
            found.directories += 1
            continue
        found.files += 1
        if S_ISREG(st.st_mode):
            found.bytes += st.st_size
