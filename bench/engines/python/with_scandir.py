# SPDX-License-Identifier: MIT OR Apache-2.0

"""os.scandir: types come with the listing, a stat is made on request.

Each model lists one directory and gives the directories in it; the order says
when those are listed.
"""

import os

from found import record


def recursion(listed, found, path):
    for below in listed(found, path):
        recursion(listed, found, below)


def stack(listed, found, path):
    waiting = [path]
    while waiting:
        waiting.extend(listed(found, waiting.pop()))


ORDERS = {"recursion": recursion, "stack": stack}


def count_listed(found, path):
    below = []
    files = 0
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.path)
                else:
                    files += 1
    except OSError as error:
        found.fail(error)
    found.files += files
    found.directories += len(below)
    return below


def size_listed(found, path):
    below = []
    files = total = 0
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.path)
                    continue
                files += 1
                if entry.is_file(follow_symlinks=False):
                    try:
                        total += entry.stat(follow_symlinks=False).st_size
                    except OSError as error:
                        found.fail(error)
    except OSError as error:
        found.fail(error)
    found.files += files
    found.directories += len(below)
    found.bytes += total
    return below


def records_listed(found, path):
    below = []
    keep = found.records.append
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.path)
                try:
                    keep(record(entry.name, entry.stat(follow_symlinks=False)))
                except OSError as error:
                    found.fail(error)
    except OSError as error:
        found.fail(error)
    return below


def count(found, path, order):
    ORDERS[order](count_listed, found, path)


def size(found, path, order):
    ORDERS[order](size_listed, found, path)


def records(found, path, order):
    ORDERS[order](records_listed, found, path)


def directory(found, path, _):
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                try:
                    st = entry.stat(follow_symlinks=False)
                except OSError as error:
                    found.fail(error)
                    continue
                if entry.is_dir(follow_symlinks=False):
                    found.directories += 1
                    continue
                found.files += 1
                if entry.is_file(follow_symlinks=False):
                    found.bytes += st.st_size
    except OSError as error:
        found.fail(error)
