# SPDX-License-Identifier: MIT OR Apache-2.0

"""Walks a tree by powerwalk: walk.py MODEL ROUNDS PATH."""

import os
import stat
import sys
import time

import powerwalk
from found import Found

# It is made for sources, and leaves out what git does.
ALL = {
    "ignore_hidden": False,
    "respect_git_ignore": False,
    "respect_global_git_ignore": False,
    "respect_git_exclude": False,
    "respect_ignore": False,
    "ignore_errors": False,
}


def walk(found, root, wants_sizes):
    files = directories = total = 0
    for entry in powerwalk.walk(root, min_depth=1, **ALL):
        if isinstance(entry, powerwalk.Error):
            found.fail(entry)
        elif entry.is_dir:
            directories += 1
        else:
            files += 1
            # It has no attributes.
            if wants_sizes and entry.is_file:
                try:
                    total += os.lstat(entry.path_str).st_size
                except OSError as error:
                    found.fail(error)
    found.files, found.directories, found.bytes = files, directories, total


def main():
    model, rounds, path = sys.argv[1:]
    failed = False
    for _ in range(int(rounds)):
        found = Found()
        start = time.monotonic_ns()
        walk(found, path, model == "size")
        elapsed = time.monotonic_ns() - start
        print(elapsed, *found.answer(model), flush=True)
        failed |= found.failed
    return int(failed)


sys.exit(main())
