# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which system calls an engine makes, counted in a run that is not timed: all of them, or those for files of a tree."""

import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable

# What begins with a string that is no path.
CONTENTS = {"execve", "read", "pread64", "recvfrom", "write", "pwrite64", "sendto"}
CALL = re.compile(r"(\d+) +(\w+)\((.*)")
STRING = r'"((?:[^"\\]|\\.)*)"'
# A path, behind the directory that it begins at where the call has one.
NAMED = re.compile(rf"(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?{STRING}")
OPEN = re.compile(r"\b\d+<([^>]*)>")
BORN = re.compile(r"\) += (\d+)")


class NotCounted(Exception):
    """There is no number; the text says why."""


def count(command: list[str], cwd: str, environment: dict[str, str], timeout_s: float) -> dict[str, int]:
    """Calls by name over all threads and children of the command, by `strace -f -c`."""
    calls = _table(_trace(["-c"], command, cwd, environment, timeout_s))
    if not calls:
        raise NotCounted("strace gave no table")
    return calls


def of_files(command: list[str], cwd: str, environment: dict[str, str], timeout_s: float, tree: str) -> dict[str, int]:
    """The calls of a command that name or hold open a file of a tree, by name. Directories are no files here.

    What a runtime reads for itself is not among them, however often it does so.
    """
    text = _trace(["-y", "-s", "4096"], command, cwd, environment, timeout_s)
    return accesses(text.splitlines(), cwd, files_below(tree))


def files_below(tree: str) -> set[str]:
    """The paths of all that is no directory."""
    return {os.path.join(folder, name) for folder, _, names in os.walk(os.path.realpath(tree)) for name in names}


def accesses(trace: Iterable[str], cwd: str, files: set[str]) -> dict[str, int]:
    """The calls of a trace by `strace -f -y` that reach one of the files, by name."""
    found: Counter[str] = Counter()
    # The working directories, each in a list of its own that threads of a process share.
    places: dict[str, list[str]] = {}
    for line in trace:
        call = CALL.match(line)
        if not call:
            continue
        task, name, rest = call.groups()
        place = places.setdefault(task, [cwd])
        paths = set(OPEN.findall(rest))
        if name not in CONTENTS:
            paths |= {_path(base or place[0], relative) for base, relative in NAMED.findall(rest)}
        found[name] += not paths.isdisjoint(files)
        if name == "chdir" and rest.endswith("= 0"):
            place[0] = _path(place[0], NAMED.search(rest)[2])
        elif name == "fchdir" and rest.endswith("= 0"):
            place[0] = OPEN.search(rest)[1]
        elif name in ("clone", "clone3", "fork", "vfork") and (born := BORN.search(rest)):
            places[born[1]] = place if "CLONE_FS" in rest else list(place)
    return {name: number for name, number in found.most_common() if number}


def _path(base: str, relative: str) -> str:
    """Where a path leads, without following what it names itself."""
    folder, name = os.path.split(os.path.join(base, relative))
    return os.path.join(os.path.realpath(folder), name)


def beyond(counted: dict[str, int], start: dict[str, int]) -> dict[str, int]:
    """The calls that are more than at another time, by name; those that are fewer are no work of a tree."""
    return {name: number - start.get(name, 0) for name, number in counted.items() if number > start.get(name, 0)}


def _trace(options: list[str], command: list[str], cwd: str, environment: dict[str, str], timeout_s: float) -> str:
    """What strace writes of a command and all that it starts."""
    if not shutil.which("strace"):
        raise NotCounted("no strace")
    with tempfile.NamedTemporaryFile(prefix="statwalk-bench-strace-") as written:
        process = subprocess.Popen(
            ["strace", "-f", *options, "-o", written.name, *command], cwd=cwd, env=environment,
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
        with open(written.name, encoding="ascii", errors="replace") as text:
            return text.read()


def _table(text: str) -> dict[str, int]:
    calls = {}
    for line in text.splitlines():
        # % time, seconds, usecs/call, calls, errors (may be absent), syscall
        fields = line.split()
        if len(fields) in (5, 6) and fields[3].isdigit() and fields[-1] != "total":
            calls[fields[-1]] = calls.get(fields[-1], 0) + int(fields[3])
    return dict(sorted(calls.items(), key=lambda item: -item[1]))
