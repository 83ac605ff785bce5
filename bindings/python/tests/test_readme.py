# SPDX-License-Identifier: MIT OR Apache-2.0

"""The programs of the README, on a tree where not all can be read."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()
PROGRAMS = [
    program
    for program in re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    if not program.startswith(">>>")
]


def test_there_are_some() -> None:
    assert len(PROGRAMS) == 3


@pytest.mark.parametrize("number", [0, 1])
def test_programs_survive(
    closed: Path, as_nobody: Callable[[str, Path], str], number: int
) -> None:
    (closed / "listable").mkdir()
    (closed / "listable" / "file.iso").write_text("text")
    (closed / "listable").chmod(0o744)
    (Path(os.fsdecode(os.fsencode(closed) + b"/a/\xff\n.iso"))).touch()
    is_over = threading.Event()
    (closed / "vanishing").mkdir(mode=0o755)

    def vanish() -> None:
        while not is_over.is_set():
            (closed / "vanishing" / "below").mkdir()
            (closed / "vanishing" / "below").rmdir()

    thread = threading.Thread(target=vanish)
    thread.start()
    try:
        program = PROGRAMS[number].replace('"/usr"', "sys.argv[1]")
        output = as_nobody("import sys\n" + program, closed)
    finally:
        is_over.set()
        thread.join()
    if number == 0:
        assert "at least" in output and "error: [Errno 13]" in output
        assert output.endswith("2 images of disks\n")
    assert "Permission denied" in output


def test_other_packages_take_columns(tree: Path) -> None:
    packages = {}
    for name in ("polars", "pandas", "duckdb", "pyarrow"):
        packages[name] = pytest.importorskip(name, reason=f"needs {name}")
    if not hasattr(packages["pandas"].DataFrame, "from_arrow"):
        pytest.skip("needs pandas 3")
    import statwalk

    program = PROGRAMS[2].replace('"/usr"', repr(str(tree)))
    exec(program, {"statwalk": statwalk, **packages})
