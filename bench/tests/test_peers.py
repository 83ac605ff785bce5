# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which Python starts a program of PyPI."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from harness import peers


class Pythons(unittest.TestCase):
    """Two that run, a shim that starts none, and names that only look like one."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name, text in (("python3.9", "echo runs"), ("python3.12", "echo runs"), ("python3.15", "exit 127"),
                           ("python3.14t", "echo runs"), ("python3.13-config", "echo runs")):
            file = Path(self.folder.name, name)
            file.write_text(f"#!/bin/sh\n{text}\n")
            file.chmod(0o755)
        here = {"PATH": self.folder.name, "HOME": self.folder.name}
        patched = mock.patch.dict(os.environ, here)
        patched.start()
        self.addCleanup(patched.stop)

    def test_the_newest_that_runs_is_taken(self):
        self.assertEqual(peers._python("3.7"), (f"{self.folder.name}/python3.12", "3.12"))

    def test_where_all_are_older_the_reason_names_the_newest(self):
        with self.assertRaisesRegex(peers.Missing, "needs Python 3.13 or newer, and the newest here is 3.12"):
            peers._python("3.13")


if __name__ == "__main__":
    unittest.main()
