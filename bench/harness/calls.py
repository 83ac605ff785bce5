# SPDX-License-Identifier: MIT OR Apache-2.0
"""How many system calls an engine makes, counted in a run that is not timed."""

import os
import shutil
import subprocess
import tempfile


class NotCounted(Exception):
    """There is no number; the text says why."""


def count(command: list[str], cwd: str, environment: dict[str, str], timeout_s: float) -> dict[str, int]:
    """Calls by name over all threads and children of the command, by `strace -f -c`."""
    if not shutil.which("strace"):
        raise NotCounted("no strace")
    with tempfile.NamedTemporaryFile(prefix="statwalk-bench-strace-") as table:
        process = subprocess.Popen(
            ["strace", "-f", "-c", "-o", table.name, *command], cwd=cwd, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise NotCounted(f"took longer than {timeout_s:.0f} s under strace") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)
                process.wait()
        calls = _table(open(table.name, encoding="ascii", errors="replace").read())
    if not calls:
        raise NotCounted("strace gave no table")
    return calls


def beyond(counted: dict[str, int], start: dict[str, int]) -> dict[str, int]:
    """The calls that are more than at another time, by name; those that are fewer are no work of a tree."""
    return {name: number - start.get(name, 0) for name, number in counted.items() if number > start.get(name, 0)}


def _table(text: str) -> dict[str, int]:
    calls = {}
    for line in text.splitlines():
        # % time, seconds, usecs/call, calls, errors (may be absent), syscall
        fields = line.split()
        if len(fields) in (5, 6) and fields[3].isdigit() and fields[-1] != "total":
            calls[fields[-1]] = calls.get(fields[-1], 0) + int(fields[3])
    return dict(sorted(calls.items(), key=lambda item: -item[1]))
