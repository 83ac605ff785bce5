# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a program costs before it has anything to do: one file, an empty directory, ten files."""

import random
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .engine import TOTALS, Engine
from .measurement import Run, Runner


@dataclass
class Startup:
    """The runs of one small tree, by engine, paired by position."""

    what: str
    runs: dict[str, list[Run]] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)


def measure(runner: Runner, engines: list[Engine], folder: Path, times: int, seed: int) -> list[Startup]:
    """Runs the engines alternately, in a new order each time."""
    folder.mkdir(parents=True, exist_ok=True)
    base = Path(tempfile.mkdtemp(prefix="startup-", dir=folder))
    try:
        (base / "one-file").write_bytes(b"content")
        (base / "empty-dir").mkdir()
        (base / "ten-files").mkdir()
        for number in range(10):
            (base / "ten-files" / f"file{number}").write_bytes(b"content")
        order = random.Random(seed)
        results = []
        for name in ("one-file", "empty-dir", "ten-files"):
            # The floor opens its root as a directory; it has no single file.
            taking_part = [
                e for e in engines if e.question == TOTALS and e.name in ("statwalk", "du", "floor-1")
                and not (e.program == "floor" and name == "one-file")
            ]
            startup = Startup(name, {e.name: [] for e in taking_part})
            for number in range(times + 5):
                order.shuffle(taking_part)
                for engine in taking_part:
                    command = engine.command(engine.variants[0], name, str(base / "empty-dir"))
                    run = runner.run(command, str(base), 60)
                    if run.status != 0:
                        startup.wrong[engine.name] = f"exit status {run.status}"
                    if number >= 5:
                        startup.runs[engine.name].append(run)
            results.append(startup)
        return results
    finally:
        shutil.rmtree(base)
