# SPDX-License-Identifier: MIT OR Apache-2.0

"""scandir-rs: walks in threads of its own, then hands over everything."""

from datetime import datetime, timedelta, timezone

from found import signed
from scandir_rs import ReturnType, Scandir, Walk

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)


def count(found, path):
    contents = Walk(path).collect()
    for error in contents.errors:
        found.fail(error)
    found.directories = len(contents.dirs)
    found.files = len(contents.files) + len(contents.symlinks) + len(contents.other)


def collected(found, path, **options):
    entries, errors = Scandir(path, return_type=ReturnType.Ext, **options).collect()
    for error in errors:
        found.fail(error)
    return entries


def size(found, path, **options):
    files = total = 0
    entries = collected(found, path, **options)
    for entry in entries:
        if not entry.is_dir:
            files += 1
            if entry.is_file:
                total += entry.st_size
    found.files, found.directories, found.bytes = files, len(entries) - files, total


def records(found, path):
    # What the library gives has every attribute: it is the record.
    found.records = collected(found, path)
    found.answer = lambda _: summed(found)


def directory(found, path):
    size(found, path, max_depth=1)


def summed(found):
    mtime = 0
    for entry in found.records:
        try:
            mtime += (entry.st_mtime - EPOCH) // SECOND
        except BaseException as error:  # pyo3's panics are no Exception
            found.fail(error)
    directories = sum(entry.is_dir for entry in found.records)
    # Not by st_mode: a link has that of its target.
    size = sum(entry.st_size for entry in found.records if entry.is_file)
    return len(found.records) - directories, directories, size, signed(mtime)
