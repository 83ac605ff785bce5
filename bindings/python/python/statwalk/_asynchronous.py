# SPDX-License-Identifier: MIT OR Apache-2.0

"""Scans in an `async for`. A thread waits for the items, so the loop of events goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Protocol

#: Items that a thread brings at once, of those that need no wait.
_SOME = 1_024


class Source(Protocol):
    """A scan of which a thread takes several items."""

    def _take(self, count: int) -> list[Any]: ...

    def close(self) -> None: ...


async def items(source: Source) -> AsyncIterator[Any]:
    """The items of a scan. The scan ends with the iterator, also where a task is cancelled."""
    try:
        while taken := await asyncio.to_thread(source._take, _SOME):
            for item in taken:
                yield item
    finally:
        # The thread of a task that was cancelled can still wait for the scan.
        await asyncio.to_thread(source.close)
