# SPDX-License-Identifier: MIT OR Apache-2.0
"""One run of one command: what it cost and what it printed."""

import fcntl
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Run:
    """The cost and the output of one run."""

    wall_s: float
    cpu_s: float
    max_rss_kib: int
    status: int
    stdout: bytes
    stderr: bytes
    # CPU time that other processes of the machine took meanwhile, in seconds.
    others_cpu_s: float
    # The kernel's part of `cpu_s`.
    system_s: float


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


# A run is disturbed when other processes used more than this part of the
# processors; the clock ticks of /proc/stat and our own harness are forgiven.
DISTURBED_SHARE = 0.1
FORGIVEN_S = 0.02


def disturbed(run: Run) -> bool:
    """Whether other processes slowed the run."""
    return run.others_cpu_s > FORGIVEN_S + DISTURBED_SHARE * run.wall_s * processors()


def say(text: str) -> None:
    """Progress for whoever waits."""
    print(text, flush=True)


class Timeout(Exception):
    """The command took longer than it was given."""


class Runner:
    """Starts commands through the small C program, in a clean environment."""

    def __init__(self, binary: Path, locale: str = "C"):
        self.binary = str(binary)
        # Whether the work of the kernel's own threads is that of others. With nothing in memory they work for the run,
        # and to look at each of them takes milliseconds.
        self.blames_kernel = True
        self.home = tempfile.mkdtemp(prefix="statwalk-bench-home-")
        # No settings of the user may change what an engine does.
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": self.home, "LC_ALL": locale, "TERM": "dumb", "NO_COLOR": "1",
        }

    def close(self) -> None:
        """Removes the empty home directory; programs may have left files in it."""
        subprocess.run(["rm", "-rf", "--one-file-system", self.home])

    def run(self, command: list[str], cwd: str, timeout_s: float, settings: dict[str, str] | None = None,
            pinned_to: set[int] | None = None) -> Run:
        """Runs a command with its output in memory, so that no disk and no reader slows it."""
        with pinned(pinned_to):
            return self._run(command, cwd, timeout_s, settings)

    def _run(self, command: list[str], cwd: str, timeout_s: float, settings: dict[str, str] | None) -> Run:
        stdout, stderr = os.memfd_create("stdout"), os.memfd_create("stderr")
        result_read, result_write = os.pipe()
        try:
            busy_before = self._busy_s()
            process = subprocess.Popen(
                [self.binary, str(result_write), *command], cwd=cwd, env={**self.environment, **(settings or {})},
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                pass_fds=[result_write], start_new_session=True,
            )
            os.close(result_write)
            result_write = -1
            try:
                # Not Popen.wait with a timeout: that looks again and again, on the
                # processors that are being measured.
                ready, _, _ = select.select([result_read], [], [], timeout_s)
            finally:
                if process.poll() is None and not _readable(result_read):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if not ready:
                raise Timeout(f"took longer than {timeout_s:.0f} s")
            busy = self._busy_s() - busy_before
            fields = os.read(result_read, 200).split()
            if len(fields) != 5:
                raise RuntimeError(f"could not start {command[0]}: {_content(stderr).decode(errors='replace')}")
            wall_ns, user_us, system_us, rss_kib, status = map(int, fields)
            cpu_s = (user_us + system_us) / 1e6
            return Run(
                wall_ns / 1e9, cpu_s, rss_kib, status, _content(stdout), _content(stderr), max(0.0, busy - cpu_s),
                system_us / 1e6,
            )
        finally:
            for descriptor in (stdout, stderr, result_read, result_write):
                if descriptor >= 0:
                    os.close(descriptor)


    def _busy_s(self) -> float:
        return _busy_s() - (0.0 if self.blames_kernel else _kernel_s())


@contextmanager
def pinned(processors: set[int] | None) -> Iterator[None]:
    """Keeps what is started meanwhile, and this process, to some of the processors."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def turn(lock: Path | None) -> Iterator[None]:
    """Holds the lock of a file: whoever takes it too runs before or after, and not meanwhile."""
    if not lock:
        yield
        return
    with open(lock, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    # Who waits is only woken. Without a pause the next case would take the lock again.
    time.sleep(0.2)


def wait_for_quiet(share: float, limit_s: float) -> float:
    """Waits until everybody together uses less than this part of the processors. Returns how long that took."""
    began = time.monotonic()
    while time.monotonic() - began < limit_s:
        busy, since = _busy_s(), time.monotonic()
        time.sleep(0.5)
        if _busy_s() - busy < share * (time.monotonic() - since) * (os.cpu_count() or 1):
            break
    return time.monotonic() - began


def _readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])


def _content(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    parts, at = [], 0
    while at < size:
        part = os.pread(descriptor, size - at, at)
        if not part:
            break
        parts.append(part)
        at += len(part)
    return b"".join(parts)


def _busy_s() -> float:
    """CPU time of the whole machine that was neither idle nor waiting."""
    with open("/proc/stat") as stat:
        fields = [int(x) for x in stat.readline().split()[1:]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = fields[:8]
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _kernel_s() -> float:
    """CPU time of the kernel's own threads."""
    ticks = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat:
                    # The name of a thread may hold blanks and brackets.
                    fields = stat.read().rpartition(")")[2].split()
            except OSError:
                continue
            # Its parent is `kthreadd`.
            if fields[1] == "2":
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
