# SPDX-License-Identifier: MIT OR Apache-2.0

"""Entries beside those of os.scandir and os.walk."""

from __future__ import annotations

import errno
import gc
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import AnyStr

import pytest
from calm import check_calm
from slowness import slowness

import statwalk

TIMES = ("st_mtime", "st_atime", "st_ctime")
NUMBERS = (
    "st_mode",
    "st_ino",
    "st_dev",
    "st_nlink",
    "st_uid",
    "st_gid",
    "st_size",
    "st_blocks",
    "st_rdev",
)
ALL = NUMBERS + TIMES + tuple(f"{name}_ns" for name in TIMES)


def by_scandir(path: AnyStr) -> dict[AnyStr, os.DirEntry[AnyStr]]:
    found = {}
    with os.scandir(path) as entries:
        for entry in entries:
            found[entry.path] = entry
            if entry.is_dir(follow_symlinks=False):
                found.update(by_scandir(entry.path))
    return found


def said(entry: object, method: str, follow: bool) -> str:
    try:
        return str(getattr(entry, method)(follow_symlinks=follow))
    except OSError as error:
        return str(error)


def check_equal(path: AnyStr) -> int:
    expected = by_scandir(path)
    found = {entry.path: entry for entry in statwalk.scan(path)}
    assert found.keys() == expected.keys()
    # First, because whoever follows a link changes its time of access.
    for name, entry in found.items():
        status = expected[name].stat(follow_symlinks=False)
        for field in ALL:
            assert getattr(entry.stat, field) == getattr(status, field), (name, field)
    for name, entry in found.items():
        other = expected[name]
        assert entry.name == other.name
        assert os.fspath(entry) == name
        assert entry.inode() == other.inode()
        assert entry.is_symlink() == other.is_symlink()
        for method in ("is_dir", "is_file"):
            for follow in (True, False):
                assert said(entry, method, follow) == said(other, method, follow)
    return len(found)


def test_entries_are_those_of_scandir(tree: Path) -> None:
    assert check_equal(str(tree)) > 50
    assert check_equal(os.fsencode(tree)) > 50
    assert check_equal(f"{tree}/") > 50


def by_descriptors(path: bytes) -> dict[bytes, os.stat_result]:
    """By descriptors, because a path can be longer than the kernel takes."""
    found = {}
    waiting = [(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY))]
    while waiting:
        above, directory = waiting.pop()
        for text in os.listdir(directory):
            name = os.fsencode(text)
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            found[above + b"/" + name] = status
            if stat.S_ISDIR(status.st_mode):
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
                try:
                    waiting.append((above + b"/" + name, os.open(name, flags, dir_fd=directory)))
                except PermissionError:
                    assert os.geteuid() != 0
        os.close(directory)
    return found


def test_named_and_random_trees_are_the_same(trees: list[bytes]) -> None:
    for root in trees:
        expected = by_descriptors(root)
        for threads in (1, 4):
            entries = statwalk.scan(root, threads=threads, onerror="ignore")
            found = {entry.path: entry for entry in entries}
            assert found.keys() == expected.keys(), root
            for path, status in expected.items():
                for field in ALL:
                    ours = getattr(found[path].stat, field)
                    # Reading a directory changes its time of access.
                    if "atime" in field and stat.S_ISDIR(status.st_mode):
                        continue
                    expected_value = getattr(status, field)
                    base = field.removesuffix("_ns")
                    if base in TIMES and not -(2**63) <= getattr(status, f"{base}_ns") < 2**63:
                        # 64 bits hold the whole seconds of such times alone.
                        unit = 10**9 if field.endswith("_ns") else 1
                        expected_value = expected_value // unit * unit
                    assert ours == expected_value, (path, field)
        text = os.fsdecode(root)
        names = {os.fsdecode(path) for path in expected}
        assert {e.path for e in statwalk.scan(text, fields="type", onerror="ignore")} == names
        table = statwalk.table(root, fields=("path", "size"), onerror=lambda error: None)
        assert len(table) == len(expected) + 1
        sizes = [status.st_blocks * 512 for status in {
            (status.st_dev, status.st_ino): status
            for status in (*expected.values(), os.lstat(root))
        }.values()]
        assert statwalk.du(root).allocated == sum(sizes), root


def test_usr_include_is_the_same() -> None:
    def check() -> None:
        check_equal("/usr/include")

    check_calm("/usr/include", check)


def test_the_current_directory(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    assert {e.path for e in statwalk.scan(".", fields="type")} == set(by_scandir("."))


def test_a_path_can_be_a_link_and_an_entry(tree: Path) -> None:
    link = str(tree / "to_directory")
    assert {e.path for e in statwalk.scan(link)} == set(by_scandir(link))
    entry = next(e for e in statwalk.scan(tree) if e.name == "a")
    assert {e.path for e in statwalk.scan(entry)} == set(by_scandir(entry.path))


def test_a_call_of_stat_is_that_of_a_dir_entry(tree: Path) -> None:
    for fields in ("stat", "type"):
        found = {e.name: e for e in statwalk.scan(str(tree), fields=fields)}
        link = found["link"]
        assert link.stat().st_size == 7
        assert stat.S_ISLNK(link.stat(follow_symlinks=False).st_mode)
        assert found["file3"].stat().st_size == 3
        with pytest.raises(FileNotFoundError):
            found["dangling"].stat()


def test_a_field_that_was_not_asked_for_is_absent(tree: Path) -> None:
    entry = next(e for e in statwalk.scan(tree, fields=["size"]) if e.name == "file3")
    assert entry.stat.st_size == 3
    with pytest.raises(AttributeError, match="mtime"):
        entry.stat.st_mtime
    with pytest.raises(ValueError, match="no field 'sizes'"):
        statwalk.scan(tree, fields="sizes")


def test_fields_decide_the_system_calls(tree: Path) -> None:
    code = "import statwalk, sys; list(statwalk.scan(sys.argv[1], fields=sys.argv[2]))"

    def calls(fields: str) -> int:
        command = ["strace", "-f", "-c", "-e", "trace=statx,newfstatat", sys.executable]
        command += ["-c", code, str(tree), fields]
        try:
            run = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            pytest.skip("needs strace")
        return sum(
            int(line.split()[3])
            for line in run.stderr.splitlines()
            if line.endswith(("statx", "newfstatat"))
        )

    assert calls("stat") - calls("type") > 40


def test_a_directory_comes_before_what_is_below_it() -> None:
    seen = {"/usr/share"}
    for entry in statwalk.scan("/usr/share", fields="type", threads=4):
        assert os.path.dirname(entry.path) in seen
        if entry.is_dir(follow_symlinks=False):
            seen.add(entry.path)


def test_depth_and_skip(tree: Path) -> None:
    flat = list(statwalk.scan(tree, max_depth=1))
    assert {e.path for e in flat} == {e.path for e in os.scandir(tree)}
    assert {e.depth for e in flat} == {1}
    names = set()
    entries = statwalk.scan(tree, fields="type")
    for entry in entries:
        names.add(entry.name)
        if entry.name == "b":
            entries.skip()
    assert "b" in names and "file3" in names and "second name" not in names
    with pytest.raises(ValueError):
        entries.skip()


def test_options(tree: Path) -> None:
    assert all(not e.name.startswith("file") for e in statwalk.scan(tree, exclude=["file*"]))
    # The path itself is a link of nothing, and what a link leads to is listed once.
    followed = [e for e in statwalk.scan(tree, follow_links=True, onerror="ignore")]
    assert not any(e.is_symlink() and e.name == "link" for e in followed)


def test_several_paths(tree: Path) -> None:
    files = [tree / "a" / f"file{number}" for number in range(40)]
    odd = tree / os.fsdecode(b"a/b/c/\xff\xfe no text")
    paths = [*files, tree / "a" / "b", odd, tree / "link", tree / "to_directory", tree / "dangling"]
    found = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in statwalk.scan(paths)]
    expected = [(str(path), False) for path in paths if not path.is_dir()]
    for path, root in [(tree / "a" / "b", "a/b"), (tree / "to_directory", "to_directory/")]:
        for parent, directories, names in os.walk(path):
            below = os.path.relpath(parent, path)
            here = os.path.normpath(os.path.join(tree, root, below))
            expected += [(os.path.join(here, name), True) for name in directories]
            expected += [(os.path.join(here, name), False) for name in names]
    # The directory b lies below both: what is in it comes once. As a root it is no entry.
    assert len(set(found)) == len(found)
    assert set(found) <= set(expected)
    real = {os.path.realpath(path) for path, _ in expected}
    assert {os.path.realpath(path) for path, _ in found} == real - {
        os.path.realpath(tree / "a" / "b")
    }
    # As bytes, and as an iterator.
    of_bytes = {entry.path for entry in statwalk.scan(os.fsencode(path) for path in paths)}
    assert of_bytes == {os.fsencode(path) for path, _ in found}
    # What is missing is an error like any other.
    with pytest.raises(statwalk.IncompleteScan) as missing:
        assert len(list(statwalk.scan([files[3], tree / "absent"]))) == 1
    assert isinstance(missing.value.errors[0], FileNotFoundError)
    with pytest.raises(TypeError):
        statwalk.scan(["a", b"b"])  # type: ignore[list-item]
    with pytest.raises(ValueError):
        statwalk.scan([])


def test_a_path_that_cannot_be_scanned(tree: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        statwalk.scan(tree / "absent")
    assert missing.value.filename == str(tree / "absent")
    with pytest.raises(NotADirectoryError):
        statwalk.scan(tree / "link")
    with pytest.raises(TypeError):
        statwalk.scan(7.5)  # type: ignore[call-overload]
    with pytest.raises(FileNotFoundError):
        statwalk.scan("")
    assert list(statwalk.walk("")) == list(os.walk("")) == []
    # As os.scandir and os.walk refuse it.
    calls: list[Callable[[str], object]] = [
        statwalk.scan,
        statwalk.batches,
        statwalk.table,
        statwalk.du,
        statwalk.top,
        statwalk.stats,
        lambda path: list(statwalk.walk(path)),
        lambda path: list(os.walk(path)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="null"):
            call(f"{tree}\0")


def test_errors(closed: Path, as_nobody: Callable[[str, Path], str]) -> None:
    def run(call: str) -> str:
        return as_nobody("path = sys.argv[1]\n" + call, closed)

    # After the loop.
    call = """
names = []
try:
    for e in statwalk.scan(path): names.append(e.name)
except statwalk.IncompleteScan as e:
    error, = e.errors
    print(len(names) > 40, type(error).__name__, error.filename == path + "/a/b", error.operation)
    print(e.report.unreadable, e.report.is_complete, isinstance(e, OSError))
"""
    assert run(call).split() == "True PermissionError True open 1 False True".split()
    call = "print([str(e.errno) for e in statwalk.scan(path, onerror='yield') if isinstance(e, OSError)])"
    assert run(call).strip() == f"['{errno.EACCES}']"
    call = "l = []; n = list(statwalk.scan(path, onerror=l.append)); print(len(n) > 40, len(l))"
    assert run(call).strip() == "True 1"
    call = "print(len(list(statwalk.scan(path, onerror='ignore'))) > 40)"
    assert run(call).strip() == "True"
    call = "l = []; print(len(statwalk.table(path, onerror=l.append)) > 40, len(l))"
    assert run(call).strip() == "True 1"
    call = """
try: statwalk.table(path)
except statwalk.IncompleteScan as e: print(len(e.errors))
"""
    assert run(call).strip() == "1"
    call = "l = []; list(statwalk.walk(path, onerror=l.append)); print([e.filename == path + '/a/b' for e in l])"
    assert run(call).strip() == "[True]"


def test_an_exception_of_onerror_ends_the_loop(tree: Path) -> None:
    with pytest.raises(ValueError):
        statwalk.scan(tree, onerror="no such word")  # type: ignore[call-overload]


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def settle(count: Callable[[], int], expected: int) -> None:
    deadline = time.monotonic() + 60
    while count() > expected and time.monotonic() < deadline:
        time.sleep(0.01)
    assert count() <= expected


def test_leaving_the_loop_ends_the_scan() -> None:
    before = threads()
    for _ in statwalk.scan("/usr"):
        break
    gc.collect()
    settle(threads, before)
    with statwalk.scan("/usr") as entries:
        next(entries)
    assert entries.report is not None and entries.report.is_interrupted
    assert list(entries) == []


def test_a_thousand_scans_leave_nothing_behind(tree: Path) -> None:
    def memory() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = threads()
    files = grown = 0
    for turn in range(1000):
        if turn == 200:
            settle(threads, before)
            files, grown = descriptors(), memory()
        entries = statwalk.scan(tree)
        if turn % 2:
            list(entries)
        else:
            next(entries)
        if turn % 5 == 0:
            statwalk.table(tree)
    del entries
    gc.collect()
    settle(threads, before)
    settle(descriptors, files)
    assert memory() - grown < 16 << 20


# Where SIGINT is ignored at its start, Python lets it be ignored.
CTRL_C = """
import signal, statwalk, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    while True:
        if sys.argv[1] == "scan":
            for e in statwalk.scan("/usr"): pass
        elif sys.argv[1] == "walk":
            for e in statwalk.walk("/usr"): pass
        else:
            statwalk.table("/usr")
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""


def time_of_ctrl_c(call: str, after: float) -> float:
    with subprocess.Popen(
        [sys.executable, "-c", CTRL_C, call], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(after)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        return (float(process.stdout.readline()) - begin) / slowness()


@pytest.mark.parametrize("call", ["scan", "walk", "table"])
def test_ctrl_c(call: str) -> None:
    # At several moments of a scan. The middle, because a machine can have much else to do,
    # and for a whole turn, too.
    middles: list[list[float]] = []
    while len(middles) < 5:
        times = sorted(time_of_ctrl_c(call, 0.3 + turn * 0.04) for turn in range(9))
        if times[4] < 0.1:
            return
        middles.append(times)
    pytest.fail(str(middles))


def test_other_threads_run_while_a_scan_waits() -> None:
    turns = 0
    is_over = threading.Event()

    def count() -> None:
        nonlocal turns
        while not is_over.is_set():
            turns += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    statwalk.table("/usr/share")
    is_over.set()
    thread.join()
    assert turns > 100


def test_the_child_of_a_fork(tree: Path) -> None:
    entries = statwalk.scan("/usr")
    next(entries)
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        try:
            list(entries)
        except RuntimeError as error:
            os._exit(0 if "fork" in str(error) and len(list(statwalk.scan(tree))) > 50 else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    entries.close()


def test_types_are_strict() -> None:
    mypy = pytest.importorskip("mypy.api", reason="needs mypy")
    folder = Path(__file__).parent.parent
    config = str(folder / "pyproject.toml")
    out, err, status = mypy.run(
        ["--strict", "--config-file", config, "-p", "statwalk", "--no-error-summary"]
    )
    assert status == 0, out + err
    tests = [str(path) for path in Path(__file__).parent.glob("*.py")]
    out, err, status = mypy.run(["--strict", "--config-file", config, *tests])
    assert status == 0, out + err


def test_the_examples_hold(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import doctest

    monkeypatch.chdir(tree)
    result = doctest.testmod(statwalk)
    assert result.attempted > 3 and result.failed == 0


def test_an_import_loads_nothing_else() -> None:
    program = (
        "import sys; before = set(sys.modules); import statwalk; "
        "print(*sorted(set(sys.modules) - before - {'__future__'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    assert done.stdout.split() == [b"statwalk", b"statwalk._statwalk"]


def test_names_of_answers_are_there() -> None:
    for name in statwalk.__all__:
        assert name in dir(statwalk)
        assert getattr(statwalk, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'absent'"):
        statwalk.absent  # type: ignore[attr-defined]


def test_a_relative_path_leads_from_the_place_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("here", "elsewhere"):
        for name in ("one", "two"):
            (tmp_path / place / name / "below").mkdir(parents=True)
            (tmp_path / place / name / "below" / place).touch()
    for path in (".", "one", ["one", "two"]):
        for _ in range(10):
            monkeypatch.chdir(tmp_path / "here")
            entries = statwalk.scan(path)
            os.chdir(tmp_path / "elsewhere")
            found = {entry.name for entry in entries}
            assert "here" in found and "elsewhere" not in found


def test_a_descriptor_is_a_root(tree: Path) -> None:
    fd = os.open(tree, os.O_RDONLY | os.O_DIRECTORY)
    here = os.getcwd()
    try:
        expected = {os.path.relpath(e.path, tree) for e in statwalk.scan(str(tree))}
        os.chdir("/")
        found = {entry.path: entry for entry in statwalk.scan(fd, fields="size")}
        assert {os.path.normpath(path) for path in found} == expected
        for path, entry in found.items():
            there = os.stat(path, dir_fd=fd, follow_symlinks=False)
            assert entry.stat.st_size == there.st_size
        assert len(statwalk.table(fd, fields="size")) == len(found) + 1
        closed_after = statwalk.scan(fd, fields="type")
    finally:
        os.close(fd)
        os.chdir(here)
    assert {os.path.normpath(e.path) for e in closed_after} == expected
    with pytest.raises(OSError) as raised:
        statwalk.scan(fd)
    assert raised.value.errno == errno.EBADF
    with open(os.devnull) as file, pytest.raises(NotADirectoryError):
        statwalk.scan(file.fileno())
