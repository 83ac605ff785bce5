# SPDX-License-Identifier: MIT OR Apache-2.0

"""Trees that others change now and then, such as /usr."""

from __future__ import annotations

import os
from collections.abc import Callable

#: How often a tree is looked at.
TRIES_MAX = 20


def look(root: str) -> dict[str, tuple[object, ...]]:
    """Everything that a call of stat says of the entries."""
    found: dict[str, tuple[object, ...]] = {}
    for directory, directories, names in os.walk(root):
        for name in directories + names:
            path = os.path.join(directory, name)
            try:
                status = os.lstat(path)
            except FileNotFoundError:
                continue
            times = status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns
            found[path] = (*status, *times)
    return found


def check_calm(root: str, check: Callable[[], None]) -> None:
    """Calls the check, again where the tree has changed while it failed."""
    for _ in range(TRIES_MAX):
        before = look(root)
        try:
            check()
            return
        except Exception:
            if look(root) == before:
                raise
    raise AssertionError(f"{root} changes all the time")
