# SPDX-License-Identifier: MIT OR Apache-2.0

"""Values of options: each means something, or is an error that names the option."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import statwalk

FUNCTIONS: list[Callable[..., object]] = [
    statwalk.scan,
    statwalk.batches,
    statwalk.table,
    statwalk.du,
    statwalk.top,
    statwalk.stats,
]
#: They sum the whole, so they have no depth.
OF_THE_WHOLE = FUNCTIONS[3:]


class Three:
    def __index__(self) -> int:
        return 3


def names(tree: Path, **options: object) -> set[str]:
    scan: Callable[..., statwalk.Scan[str]] = statwalk.scan
    return {entry.name for entry in scan(str(tree), fields="type", **options)}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (-1, ValueError),
        (-(2**70), ValueError),
        (2**32, OverflowError),
        (2**70, OverflowError),
        (1.0, TypeError),
        (math.inf, TypeError),
        (math.nan, TypeError),
        ("2", TypeError),
    ],
)
def test_a_number_that_means_nothing_is_named(
    tree: Path, value: object, kind: type[Exception]
) -> None:
    def words(name: str) -> str:
        return f"{name} is a whole number from 0 to 4294967295, and not {re.escape(repr(value))}"

    for name in ("threads", "max_depth"):
        for function in FUNCTIONS:
            if name == "max_depth" and function in OF_THE_WHOLE:
                continue
            with pytest.raises(kind, match=words(name)):
                function(tree, **{name: value})
    du: Callable[..., object] = statwalk.du
    top: Callable[..., object] = statwalk.top
    with pytest.raises(kind, match=words("depth")):
        du(tree, value)
    with pytest.raises(kind, match=words("count")):
        top(tree, value)


def test_numbers_mean_what_they_say(tree: Path) -> None:
    everything = names(tree)
    for threads in (None, 0, 1, 3, Three()):
        assert names(tree, threads=threads) == everything
    for max_depth in (None, 2**32 - 1, 1_000):
        assert names(tree, max_depth=max_depth) == everything
    assert names(tree, max_depth=0) == set()
    assert names(tree, max_depth=1) < names(tree, max_depth=Three()) <= everything
    assert statwalk.du(tree, 0).children == ()
    assert len(statwalk.top(tree, 0)) == 0


def test_a_flag_is_true_or_false(tree: Path) -> None:
    for name in ("one_file_system", "follow_links", "kernel_file_systems"):
        for function in FUNCTIONS:
            with pytest.raises(TypeError, match=f"{name} is True or False, and not 'no'"):
                function(tree, **{name: "no"})
