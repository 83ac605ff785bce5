# SPDX-License-Identifier: MIT OR Apache-2.0

"""A limit of time times this number holds on a busy machine, too."""

from __future__ import annotations

import time


def slowness() -> float:
    """How many times as long as with nothing beside a job takes now."""
    begin, begin_cpu = time.monotonic(), time.thread_time()
    while (worked := time.thread_time() - begin_cpu) < 0.03:
        sum(range(1_000))
    return max(1.0, (time.monotonic() - begin) / worked)
