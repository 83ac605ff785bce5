# SPDX-License-Identifier: MIT OR Apache-2.0

"""Hooks of audits hear of each path, and can refuse it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# A hook stays until the end of its process.
CODE = """
import fsspec, os, statwalk, sys
import statwalk.fsspec

def scans(events, call, *given):
    heard.clear()
    try: return call(*given)
    finally: print(call.__name__, [event for event in heard if event[0] in events])

def hook(event, arguments):
    if event in ("os.scandir", "os.walk"):
        heard.append((event, arguments[0]))
        if arguments[0] == "refused": raise PermissionError("refused")

heard = []
sys.addaudithook(hook)
for call in (statwalk.scan, statwalk.batches, statwalk.table):
    scans(("os.scandir",), call, "tree")
    scans(("os.scandir",), call, ["tree", "tree/a"])
for call in (statwalk.du, statwalk.top, statwalk.stats):
    scans(("os.scandir",), call, b"tree")
scans(("os.walk", "os.scandir"), statwalk.walk, "tree")
scans(("os.scandir",), fsspec.filesystem("statwalk").find, os.path.abspath("tree"))
for call in (statwalk.scan, statwalk.batches, statwalk.table, statwalk.du, statwalk.walk):
    try: call("refused")
    except PermissionError as error: print(error)
"""


def test_a_hook_hears_of_each_path_and_can_refuse_it(tmp_path: Path) -> None:
    (tmp_path / "tree" / "a").mkdir(parents=True)
    # No error of the system: the hook comes before it.
    command = [sys.executable, "-c", CODE]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = ran.stdout.splitlines()
    one, two = "[('os.scandir', 'tree')]", "[('os.scandir', 'tree'), ('os.scandir', 'tree/a')]"
    for name in ("scan", "batches", "table"):
        assert lines[:2] == [f"{name} {one}", f"{name} {two}"]
        lines = lines[2:]
    for name in ("du", "top", "stats"):
        assert lines.pop(0) == f"{name} [('os.scandir', b'tree')]"
    assert lines.pop(0) == "walk [('os.walk', 'tree'), ('os.scandir', 'tree')]"
    assert lines.pop(0) == f"find [('os.scandir', {str(tmp_path / 'tree')!r})]"
    assert lines == ["refused"] * 5
