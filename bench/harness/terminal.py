# SPDX-License-Identifier: MIT OR Apache-2.0
"""A program on a terminal of its own."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from pathlib import Path

COLUMNS, LINES = 120, 40
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
# What programs ask a terminal, and what one answers: the place of the cursor, and its kind.
QUESTIONS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;22c", b"\x1b[0c": b"\x1b[?62;22c"}


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command: list[str]) -> None:
        self.began = time.perf_counter()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
            try:
                os.execv(command[0], command)
            finally:
                os._exit(127)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.shown = b""
        self.rss_kib = 0

    def read(self, wait_s: float) -> bool:
        """Takes what the program wrote, for so long at most. Says whether it wrote anything."""
        ready, _, _ = select.select([self.terminal], [], [], wait_s)
        if not ready:
            return False
        try:
            new = os.read(self.terminal, 1 << 16)
        except OSError:
            return False
        for question, answer in QUESTIONS.items():
            if question in new:
                os.write(self.terminal, answer)
        self.shown += new
        return bool(new)

    def text(self) -> str:
        """The letters so far, without the codes between them."""
        return re.sub(rb"\x1b(\[[0-9;?<>=]*[a-zA-Z]|[()][A-Z0-9]|[=>78])", b"", self.shown).decode(errors="replace")

    def cpu_s(self) -> float:
        """Processor time of the program."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK_S

    def memory_kib(self) -> int:
        """The most memory that it has had."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+)", status)[1])

    def since(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.began

    def end(self) -> None:
        """Ends it, however it is."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)
