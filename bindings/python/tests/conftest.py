# SPDX-License-Identifier: MIT OR Apache-2.0

"""Trees with all that names and types can be."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the skipped tests as those of Rust do, for the command that runs all."""
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        terminalreporter.write_line(f"skipped: {reason} ({report.nodeid})")


#: The named and random trees that `cargo xtask bindings` makes.
TREES = Path(__file__).parents[2] / "target/trees"


@pytest.fixture
def trees() -> list[bytes]:
    """All of them, as bytes."""
    if not TREES.is_dir():
        pytest.skip("needs the trees of `cargo xtask bindings`")
    return [os.path.join(os.fsencode(TREES), name) for name in sorted(os.listdir(os.fsencode(TREES)))]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "a" / "b" / "c").mkdir(parents=True)
    (root / "empty").mkdir()
    for number in range(40):
        (root / "a" / f"file{number}").write_bytes(b"x" * number)
    (root / "a" / "b" / "größe\n'\"").write_text("ä")
    (root / "a" / "b" / ("n" * 255)).touch()
    with open(os.fsencode(root) + b"/a/b/c/\xff\xfe no text", "w"):
        pass
    (root / "link").symlink_to("a/file7")
    (root / "dangling").symlink_to("nowhere")
    (root / "to_directory").symlink_to("a")
    (root / "loop").symlink_to("loop")
    os.link(root / "a" / "file9", root / "a" / "b" / "second name")
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(os.path.relpath(root / "socket"))
    os.utime(root / "a" / "file1", ns=(1_000_000_001, -5_000_000_001))
    os.truncate(root / "a" / "file2", 1 << 33)
    return root


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A part of Python's own library that nobody changes: an import can write in the other."""
    ours = tmp_path / "library"
    unwanted = shutil.ignore_patterns("__pycache__")
    for name, place in (("email", ours), ("ctypes", ours / "ctypes"), ("json", ours / "a" / "b")):
        shutil.copytree(Path(os.__file__).parent / name, place, ignore=unwanted)
    return ours


# An ordinary user may not reach the module, so root loads all of it and then changes the user.
AS_NOBODY = """
import os, pickle, statwalk, sys
statwalk.Usage
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
"""


@pytest.fixture
def as_nobody() -> Callable[[str, Path], str]:
    """Runs a program as an ordinary user: root may read everything."""

    def run(code: str, path: Path) -> str:
        wanted = [sys.executable, "-c", AS_NOBODY + code, str(path)]
        return subprocess.run(wanted, capture_output=True, text=True, check=True).stdout

    return run


@pytest.fixture
def closed(tree: Path) -> Path:
    """A tree with a directory, `a/b`, that only root may read."""
    for folder in (tree.parent, *list(tree.parents)[:3]):
        if folder.name.startswith("pytest") or folder == tree.parent:
            folder.chmod(0o755)
    (tree / "a" / "b").chmod(0)
    return tree
