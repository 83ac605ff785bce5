# SPDX-License-Identifier: MIT OR Apache-2.0

"""The tests of others: those of CPython for os.walk, of setuptools, and of fsspec."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

import statwalk.fsspec

OURS = str(Path(statwalk.__file__).parent.parent)
abstract: Any = pytest.importorskip("fsspec.tests.abstract", reason="needs the tests of fsspec")

# CPython has its tests beside the library, and a distribution can leave them out.
WALK_TESTS = """
import os, sys, unittest
from test import test_os
import statwalk

def walk(self, top, **options):
    if "follow_symlinks" in options:
        options["followlinks"] = options.pop("follow_symlinks")
    return statwalk.walk(top, **options)

class BytesWalk(test_os.BytesWalkTests):
    def walk(self, top, **options):
        # That class turns each name into text, as its own walk does.
        names = lambda found: [[os.fsdecode(one) for one in part] for part in found]
        for directory, *found in walk(self, os.fsencode(top), **options):
            text = names(found)
            yield (os.fsdecode(directory), *text)
            for part, changed in zip(found, text):
                part[:] = [os.fsencode(one) for one in changed]

test_os.WalkTests.walk = walk
loader = unittest.TestLoader()
suite = unittest.TestSuite(map(loader.loadTestsFromTestCase, (test_os.WalkTests, BytesWalk)))
result = unittest.TextTestRunner(stream=sys.stdout).run(suite)
print("ran", result.testsRun)
sys.exit(not result.wasSuccessful())
"""


def test_the_walk_tests_of_cpython(tmp_path: Path) -> None:
    pytest.importorskip("test.test_os", reason="needs the tests of CPython")
    run = subprocess.run(
        [sys.executable, "-c", WALK_TESTS], capture_output=True, text=True, cwd=tmp_path
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert int(run.stdout.rsplit("ran ", 1)[1]) >= 14


# Its wheel has no tests. The version is one whose tests are known.
SETUPTOOLS = "setuptools==80.9.0"
MODULES = ("find_packages", "find_py_modules", "glob", "manifest", "sdist")
PLUGIN = """
import os, statwalk
os.walk = statwalk.walk
"""


def test_setuptools_finds_its_files(tmp_path: Path) -> None:
    for module in ("jaraco.path", "jaraco.envs", "jaraco.test"):
        pytest.importorskip(module, reason=f"needs {module}")
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    pip += ["--no-build-isolation", "-d", str(tmp_path), SETUPTOOLS]
    if subprocess.run(pip, capture_output=True).returncode != 0:
        pytest.skip(f"needs PyPI, for {SETUPTOOLS}")
    (archive,) = tmp_path.glob("setuptools-*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    (folder,) = (path for path in tmp_path.glob("setuptools-*") if path.is_dir())
    (folder / "with_statwalk.py").write_text(PLUGIN)
    tests = [f"setuptools/tests/test_{module}.py" for module in MODULES]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "with_statwalk", "-o", "addopts=", *tests],
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder), OURS]),
            # One test looks into it, and would build it.
            "PRE_BUILT_SETUPTOOLS_SDIST": str(archive),
        },
    )
    assert run.returncode == 0 and " passed" in run.stdout, run.stdout + run.stderr


class Fixtures(abstract.AbstractFixtures):  # type: ignore[misc]
    @pytest.fixture
    def fs(self) -> Any:
        return statwalk.fsspec.StatwalkFileSystem(auto_mkdir=True)

    @pytest.fixture
    def fs_path(self, tmpdir: Any) -> str:
        return str(tmpdir)

    @pytest.fixture
    def supports_empty_directories(self) -> bool:
        return True


class TestCopy(abstract.AbstractCopyTests, Fixtures):  # type: ignore[misc]
    pass


class TestGet(abstract.AbstractGetTests, Fixtures):  # type: ignore[misc]
    pass


class TestPut(abstract.AbstractPutTests, Fixtures):  # type: ignore[misc]
    pass


class TestPipe(abstract.AbstractPipeTests, Fixtures):  # type: ignore[misc]
    pass


class TestOpen(abstract.AbstractOpenTests, Fixtures):  # type: ignore[misc]
    pass
