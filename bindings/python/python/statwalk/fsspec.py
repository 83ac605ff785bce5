# SPDX-License-Identifier: MIT OR Apache-2.0

"""The local file system of fsspec, whose `find`, `glob` and `du` are one scan.

>>> import fsspec
>>> fsspec.filesystem("statwalk").du(".") > 0
True

A URL begins with `statwalk://`. All else is that of `fsspec.implementations.local`.
"""

from __future__ import annotations

import os
from typing import Any

from fsspec.implementations.local import LocalFileSystem

from . import Entry, scan

__all__ = ["StatwalkFileSystem"]

_COPIED = ("mode", "uid", "gid", "mtime", "ino", "nlink")


class StatwalkFileSystem(LocalFileSystem):  # type: ignore[misc]
    """Files of this machine. Directories that cannot be read are left out, as fsspec does."""

    protocol = "statwalk"

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        path = os.fspath(path)
        return super()._strip_protocol(path.removeprefix("statwalk://"))

    def find(
        self,
        path: Any,
        maxdepth: int | None = None,
        withdirs: bool = False,
        detail: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Finds all files below a path; a dict of them with `detail`."""
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth must be at least 1")
        path = self._strip_protocol(path)
        found: dict[str, dict[str, Any]] = {}
        try:
            root = self.info(path)
        except OSError:
            root = None
        if root is not None and root["type"] != "directory":
            found[path] = root
        elif root is not None:
            fields = "stat" if detail else "type"
            entries = scan(
                path, fields=fields, max_depth=maxdepth, kernel_file_systems=True, onerror="ignore"
            )
            if withdirs:
                found[path] = root
            for entry in entries:
                if withdirs or not entry.is_dir(follow_symlinks=False):
                    try:
                        found[entry.path] = _info(entry) if detail else {}
                    except OSError:
                        # Its directory can be listed, and does not let anybody in.
                        continue
        names = sorted(found)
        return {name: found[name] for name in names} if detail else names

    def du(
        self,
        path: Any,
        total: bool = True,
        maxdepth: int | None = None,
        withdirs: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The lengths of files below a path, and of directories with `withdirs`."""
        found = self.find(path, maxdepth, withdirs, detail=True, **kwargs)
        sizes = {name: info["size"] for name, info in found.items()}
        return sum(sizes.values()) if total else sizes


def _info(entry: Entry[str]) -> dict[str, Any]:
    """As `LocalFileSystem.info` has it of an `os.DirEntry`."""
    status, size = entry.stat, entry.stat.st_size
    kind = "other"
    if entry.is_dir(follow_symlinks=False):
        kind = "directory"
    elif entry.is_file(follow_symlinks=False):
        kind = "file"
    is_link = entry.is_symlink()
    if is_link:
        try:
            size = os.stat(entry.path).st_size
        except OSError:
            size = 0
    info = {
        "name": entry.path,
        "size": size,
        "type": kind,
        "created": status.st_ctime,
        "islink": is_link,
    }
    info |= {name: getattr(status, f"st_{name}") for name in _COPIED}
    if is_link:
        info["destination"] = os.readlink(entry.path)
    return info
