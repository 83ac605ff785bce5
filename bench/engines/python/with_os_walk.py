# SPDX-License-Identifier: MIT OR Apache-2.0

"""os.walk, and os.lstat where more than names is wanted."""

import os
from os.path import join
from stat import S_ISDIR, S_ISREG

from found import record

# os.walk lists a symbolic link to a directory among the directories and does
# not enter it. To ask for each would cost a stat more; so directories are what
# was entered, or could not be.


def count(found, path):
    names = entered = 0

    def unreadable(error):
        nonlocal entered
        entered += 1
        found.fail(error)

    for _, directories, files in os.walk(path, onerror=unreadable):
        entered += 1
        names += len(directories) + len(files)
    found.directories = entered - 1
    found.files = names - found.directories


def size(found, path):
    names = entered = total = 0

    def unreadable(error):
        nonlocal entered
        entered += 1
        found.fail(error)

    for top, directories, files in os.walk(path, onerror=unreadable):
        entered += 1
        names += len(directories) + len(files)
        for name in files:
            try:
                st = os.lstat(join(top, name))
            except OSError as error:
                found.fail(error)
                continue
            if S_ISREG(st.st_mode):
                total += st.st_size
    found.directories = entered - 1
    found.files = names - found.directories
    found.bytes = total


def records(found, path):
    keep = found.records.append
    for top, directories, files in os.walk(path, onerror=found.fail):
        for names in directories, files:
            for name in names:
                try:
                    keep(record(name, os.lstat(join(top, name))))
                except OSError as error:
                    found.fail(error)


def directory(found, path):
    for top, directories, files in os.walk(path, onerror=found.fail):
        for name in directories + files:
            try:
                st = os.lstat(join(top, name))
            except OSError as error:
                found.fail(error)
                continue
            if S_ISDIR(st.st_mode):
                found.directories += 1
                continue
            found.files += 1
            if S_ISREG(st.st_mode):
                found.bytes += st.st_size
        break
