# SPDX-License-Identifier: MIT OR Apache-2.0

"""Trees with all that names and types can be."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the skipped tests as those of Rust do, for the command that runs all."""
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        terminalreporter.write_line(f"skipped: {reason} ({report.nodeid})")


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
