# SPDX-License-Identifier: MIT OR Apache-2.0

"""Scans in an `async for`, beside those of a plain loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from pathlib import Path
from typing import Any

import pytest

import statwalk


def test_it_gives_what_a_loop_gives(tree: Path) -> None:
    async def paths(**given: Any) -> list[str]:
        return sorted([entry.path async for entry in statwalk.scan(tree, **given)])

    async def rows() -> int:
        return sum([len(batch) async for batch in statwalk.batches(tree)])

    assert asyncio.run(paths()) == sorted(entry.path for entry in statwalk.scan(tree))
    assert asyncio.run(paths(max_depth=0)) == []
    assert asyncio.run(rows()) == len(statwalk.table(tree))


def test_the_loop_of_events_goes_on() -> None:
    async def beats_while_it_runs() -> int:
        beats, is_over = 0, False

        async def beat() -> None:
            nonlocal beats
            while not is_over:
                beats += 1
                await asyncio.sleep(0.001)

        task = asyncio.create_task(beat())
        found = [entry async for entry in statwalk.scan("/usr", fields="type")]
        is_over = True
        await task
        assert len(found) > 1_000
        return beats

    assert asyncio.run(beats_while_it_runs()) > 10


def test_errors_come_as_in_a_loop(tree: Path) -> None:
    roots = [tree, tree / "gone"]

    async def main() -> None:
        names = []
        with pytest.raises(statwalk.IncompleteScan) as raised:
            async for entry in statwalk.scan(roots):
                names.append(entry.name)
        (error,) = raised.value.errors
        assert isinstance(error, FileNotFoundError)
        assert len(names) == sum(1 for _ in statwalk.scan(tree))
        items: list[object] = [item async for item in statwalk.scan(roots, onerror="yield")]
        assert [type(item) for item in items].count(FileNotFoundError) == 1
        assert len(items) == len(names) + 1
        told: list[OSError] = []
        assert len([item async for item in statwalk.scan(roots, onerror=told.append)]) == len(names)
        assert len(told) == 1

    asyncio.run(main())


def test_nothing_stays_of_a_task_that_was_cancelled() -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    async def main() -> None:
        # The executor keeps its threads.
        await asyncio.to_thread(threading.get_ident)
        before = descriptors()
        for _ in range(5):
            scan, has_begun = statwalk.scan("/usr"), asyncio.Event()

            async def loop(scan: statwalk.Scan[str] = scan, begun: asyncio.Event = has_begun) -> None:
                async for _ in scan:
                    begun.set()

            task = asyncio.create_task(loop())
            await has_begun.wait()
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await asyncio.get_running_loop().shutdown_asyncgens()
            assert scan.report is not None and scan.report.is_interrupted
        assert descriptors() == before

    asyncio.run(main())


def test_it_reads_ahead_and_does_not_skip(tree: Path) -> None:
    async def main() -> None:
        scan = statwalk.scan(tree)
        async for _ in scan:
            with pytest.raises(ValueError, match="reads ahead"):
                scan.skip()
            break
        scan.close()

    asyncio.run(main())
