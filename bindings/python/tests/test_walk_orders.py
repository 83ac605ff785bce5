# SPDX-License-Identifier: MIT OR Apache-2.0

"""`walk` beside `os.walk`, with callers that change the lists of names by chance.

`STATWALK_SEEDS` sets the number of random trees.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import statwalk

Step = tuple[str, list[str], list[str]]
Walk = Callable[..., Iterator[Step]]
#: Changes the names of directories in one step, by random numbers of its own.
Rule = Callable[[random.Random, str, list[str]], None]

SEEDS = int(os.environ.get("STATWALK_SEEDS", "10"))
#: A walk goes on no further: a caller that adds names can have it go round for ever.
STEPS_MAX = 1_000


def make(root: Path, chance: random.Random) -> None:
    """Makes a tree: flat, deep or in between, with files and links in it."""
    directories = [str(root)]
    for number in range(chance.choice([3, 12, 60, 150])):
        last = directories[-3:] if chance.random() < 0.3 else directories
        path = f"{chance.choice(last)}/{chance.choice('dD.')}{number}"
        os.mkdir(path)
        directories.append(path)
    for number in range(len(directories)):
        path = f"{chance.choice(directories)}/{chance.choice(['f', 'F', '.f'])}{number}"
        if chance.random() < 0.15:
            # A later directory holds no link to an earlier one, so no loop is made.
            target = directories[number:]
            path = f"{directories[number]}/l{number}"
            os.symlink(chance.choice([*target[1:], "nowhere", "f0"]), path)
        else:
            open(path, "w").close()


def sort(chance: random.Random, path: str, names: list[str]) -> None:
    names.sort(reverse=chance.random() < 0.3)


def shuffle(chance: random.Random, path: str, names: list[str]) -> None:
    names.sort()
    chance.shuffle(names)


def prune(chance: random.Random, path: str, names: list[str]) -> None:
    names.sort()
    names[:] = [name for name in names if chance.random() < 0.8]


def shuffle_and_prune(chance: random.Random, path: str, names: list[str]) -> None:
    shuffle(chance, path, names)
    while names and chance.random() < 0.4:
        names.pop(chance.randrange(len(names)))


def add(chance: random.Random, path: str, names: list[str]) -> None:
    """Adds names that are there twice, below, above, elsewhere, new or nowhere."""
    shuffle_and_prune(chance, path, names)
    if chance.random() > 0.3 or path.count("..") > 2:
        return
    below = [entry for entry in sorted(os.listdir(path)) if not entry.startswith("l")]
    elsewhere = [name for name in names if os.path.isdir(os.path.join(path, name))]
    more = ["nowhere", ".", "../", "..", *below]
    for name in elsewhere:
        more += [name, f"./{name}", f"{name}/", f"../{os.path.basename(path)}/{name}"]
        more += [f"{name}/{inside}" for inside in sorted(os.listdir(os.path.join(path, name)))]
    for name in chance.sample(more, min(2, len(more))):
        names.insert(chance.randrange(len(names) + 1), name)


RULES: list[Rule] = [sort, shuffle, prune, shuffle_and_prune, add]


def walked(
    walk: Walk, top: Path, seed: int, rule: Rule, topdown: bool = True, followlinks: bool = False
) -> list[str]:
    """All steps and errors, one a line. Both walkers get the same random numbers."""
    chance = random.Random(seed)
    lines: list[str] = []

    def onerror(error: OSError) -> None:
        lines.append(f"{type(error).__name__} {error.errno} {error.filename}")

    for path, directories, names in walk(str(top), topdown, onerror, followlinks):
        lines.append(f"{path} {sorted(directories)} {sorted(names)}")
        if topdown:
            rule(chance, path, directories)
        if len(lines) >= STEPS_MAX:
            break
    return lines if topdown else sorted(lines)


def difference(top: Path, seed: int, rule: Rule, **options: bool) -> str | None:
    expected = walked(os.walk, top, seed, rule, **options)
    found = walked(statwalk.walk, top, seed, rule, **options)
    if found == expected:
        return None
    at = next((i for i, (a, b) in enumerate(zip(found, expected)) if a != b), -1)
    return f"{rule.__name__} {options} seed {seed}: step {at} of {len(expected)}: {found[at:at + 1]}"


def test_any_change_of_the_lists_is_as_with_os_walk(tmp_path: Path) -> None:
    differences = []
    # Callers that add ".." leave the tree, and beside it others change theirs.
    alone = tmp_path / "1" / "2" / "3" / "4" / "5"
    alone.mkdir(parents=True)
    for seed in range(SEEDS):
        top = alone / f"{seed}"
        top.mkdir()
        make(top, random.Random(seed))
        for rule in RULES:
            differences.append(difference(top, seed, rule))
        differences.append(difference(top, seed, shuffle_and_prune, followlinks=True))
        differences.append(difference(top, seed, sort, topdown=False))
        shutil.rmtree(top)
    assert [one for one in differences if one is not None] == []


@pytest.mark.parametrize("walk", [os.walk, statwalk.walk])
def test_no_walk_goes_through_a_link_that_took_the_place_of_a_directory(
    tmp_path: Path, walk: Walk
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for number in range(24):
        (tmp_path / "top" / f"d{number // 4}" / f"e{number % 4}" / "f").mkdir(parents=True)
    seen = []
    for path, directories, _ in walk(str(tmp_path / "top")):
        assert not os.path.islink(path)
        seen.append(path)
        if "e0" in directories:
            target = outside / os.path.basename(path)
            os.rename(f"{path}/e0", target)
            os.symlink(target, f"{path}/e0")
    assert len(seen) == 1 + 6 + 6 * 3 * 2


@pytest.mark.parametrize("walk", [os.walk, statwalk.walk])
def test_a_directory_that_goes_away_is_an_error(tmp_path: Path, walk: Walk) -> None:
    for number in range(24):
        (tmp_path / f"d{number // 4}" / f"e{number % 4}").mkdir(parents=True)
    gone = []
    errors: list[OSError] = []
    for path, directories, _ in walk(str(tmp_path), onerror=errors.append):
        assert path not in gone
        if "e0" in directories:
            os.rmdir(f"{path}/e0")
            gone.append(f"{path}/e0")
    assert sorted(error.filename for error in errors) == sorted(gone)


@pytest.mark.parametrize("rule", [list.sort, list.reverse, random.Random(1).shuffle])
def test_no_directory_comes_twice_in_any_order(
    tmp_path: Path, rule: Callable[[list[str]], None]
) -> None:
    level = [str(tmp_path)]
    count = 1
    for _ in range(6):
        level = [f"{path}/{number}" for path in level for number in range(3)]
        for path in level:
            os.mkdir(path)
            open(f"{path}/file", "w").close()
        count += len(level)
    # The order of a listing is free, and some orders alone have shown the fault.
    for _ in range(5):
        seen = []
        for path, directories, names in statwalk.walk(str(tmp_path)):
            seen += [path, *(os.path.join(path, name) for name in names)]
            rule(directories)
        assert len(seen) == len(set(seen)) == 2 * count - 1
