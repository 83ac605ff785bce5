# SPDX-License-Identifier: MIT OR Apache-2.0

"""Walks a tree in one of several ways: walk.py WAY MODEL ROUNDS PATH."""

import importlib
import sys
import time

from found import Found

# A way is a module and what it takes to choose among its functions.
WAYS = {
    "os-walk": ("with_os_walk", ()),
    "scandir-recursion": ("with_scandir", ("recursion",)),
    "scandir-stack": ("with_scandir", ("stack",)),
    "pathlib-rglob": ("with_pathlib_rglob", ()),
    "pathlib-iterdir": ("with_pathlib_iterdir", ()),
    "scandir-rs": ("with_scandir_rs", ()),
    "scandir-rs-count": ("with_scandir_rs_count", ()),
}


def main():
    way, model, rounds, path = sys.argv[1:]
    # A path has at most 2,048 levels; os.walk recurses before Python 3.12.
    sys.setrecursionlimit(10_000)
    module, arguments = WAYS[way]
    walk = getattr(importlib.import_module(module), model)
    failed = False
    for _ in range(int(rounds)):
        found = Found()
        start = time.monotonic_ns()
        walk(found, path, *arguments)
        elapsed = time.monotonic_ns() - start
        print(elapsed, *found.answer(model), flush=True)
        failed |= found.failed
    return int(failed)


sys.exit(main())
