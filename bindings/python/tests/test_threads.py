# SPDX-License-Identifier: MIT OR Apache-2.0

"""Threads, signals and the collector meet a scan in the middle."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import statwalk

BEGIN: list[Callable[[str], Any]] = [
    lambda path: statwalk.scan(path),
    lambda path: statwalk.batches(path, fields=("path", "size")),
]


def count(item: object) -> int:
    return len(item) if isinstance(item, statwalk.Batch) else 1


@pytest.mark.parametrize("begin", BEGIN)
def test_another_thread_ends_a_scan(begin: Callable[[str], Any]) -> None:
    running = begin("/usr")
    has_begun, found = threading.Event(), list[object]()

    def loop() -> None:
        try:
            for _ in running:
                has_begun.set()
            found.append("a whole scan")
        except statwalk.IncompleteScan as error:
            found.append(error)

    thread = threading.Thread(target=loop)
    thread.start()
    assert has_begun.wait(60)
    running.close()
    thread.join(60)
    (error,) = found
    # What it has given is not all, and the loop hears of that.
    assert isinstance(error, statwalk.IncompleteScan)
    assert running.report.is_interrupted and not running.report.is_complete
    # Who has closed it knows.
    assert list(running) == []


@pytest.mark.parametrize("begin", BEGIN)
def test_a_thread_that_comes_between_loses_nothing(
    begin: Callable[[str], Any], library: Path
) -> None:
    expected = sum(count(item) for item in begin(str(library)))
    running = begin(str(library))
    found = [0, 0]

    def loop(number: int) -> None:
        while True:
            try:
                found[number] += count(next(running))
            except StopIteration:
                return
            except RuntimeError as error:
                assert "another thread" in str(error)

    threads = [threading.Thread(target=loop, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(found) == expected


def test_onerror_can_close_and_skip_its_own_scan(tree: Path) -> None:
    seen: list[OSError] = []

    def close(error: OSError) -> None:
        seen.append(error)
        running.close()

    running = statwalk.scan([tree / "a", tree / "absent", tree / "empty"], onerror=close)
    list(running)
    assert len(seen) == 1 and running.report is not None

    def skip(error: OSError) -> None:
        with pytest.raises(ValueError, match="no directory"):
            running.skip()

    running = statwalk.scan([tree / "absent"], onerror=skip)
    assert list(running) == []


class Interrupt(Exception):
    pass


def interrupted(call: Callable[[], object], after: float) -> bool:
    """Calls something that a signal meets after a time. Whether its exception came out."""

    def handler(number: int, frame: object) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        try:
            call()
        except Interrupt:
            return True
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return False
    except Interrupt:
        return True
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_exception_of_a_signal_loses_nothing(library: Path) -> None:
    expected = len(statwalk.table(library))
    hits = 0
    for turn in range(300):
        running = statwalk.batches(library)
        table: list[statwalk.Table] = []

        def read_all() -> None:
            table.append(running.read_all())

        while not table:
            if interrupted(read_all, 0.00005 * (turn % 60 + 1)):
                if running.report is not None:
                    # It came after the last batch: Python itself drops the answer of a call.
                    break
                hits += 1
        else:
            assert len(table[0]) == expected
    assert hits > 0


def test_a_handler_can_close_the_scan_that_it_interrupts() -> None:
    running = statwalk.scan("/usr")
    closed = 0

    def handler(number: int, frame: object) -> None:
        nonlocal closed
        closed += 1
        running.close()

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        list(running)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert closed and running.report is not None


def test_the_collector_finds_a_circle(tree: Path) -> None:
    class Owner:
        def __init__(self) -> None:
            self.errors: list[OSError] = []
            self.scan = statwalk.scan([tree, tree / "absent"], onerror=self.note)
            self.batches = statwalk.batches([tree, tree / "absent"], onerror=self.note)

        def note(self, error: OSError) -> None:
            self.errors.append(error)

    def threads() -> int:
        return len(os.listdir("/proc/self/task"))

    before, owners = threads(), []
    for _ in range(20):
        owner = Owner()
        next(owner.scan)
        owners.append(weakref.ref(owner))
    del owner
    gc.collect()
    assert [owner for owner in owners if owner() is not None] == []
    deadline = time.monotonic() + 60
    while threads() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threads() <= before
    # The collector does not touch one that is in use.
    owner = Owner()
    gc.collect()
    list(owner.scan)
    assert len(owner.errors) == 1
