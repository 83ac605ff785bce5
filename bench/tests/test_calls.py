# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which calls of a trace reach a file of a tree."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

from harness import calls

FILES = {"/srv/tree/file"}


def accesses(*lines: str, cwd: str = "/") -> dict[str, int]:
    return calls.accesses(lines, cwd, FILES)


class Traces(unittest.TestCase):
    def test_a_path_an_open_directory_and_an_open_file(self):
        found = accesses(
            '7 newfstatat(AT_FDCWD</>, "/srv/tree/file", {st_mode=S_IFREG|0644}, 0) = 0',
            '7 openat(3</srv/tree>, "file", O_RDONLY) = 4</srv/tree/file>',
            '7 getxattr("/srv/tree/file", "user.DOSATTRIB", 0x7ff, 10) = -1 ENODATA (No data available)',
            "7 close(4</srv/tree/file>) = 0")
        self.assertEqual(found, {"newfstatat": 1, "openat": 1, "getxattr": 1, "close": 1})

    def test_what_is_elsewhere_and_the_directory_itself_are_none(self):
        self.assertEqual(accesses(
            '7 stat("/usr/lib/file", 0x7) = 0', '7 openat(AT_FDCWD</>, "/srv/tree", O_RDONLY) = 3</srv/tree>',
            '7 newfstatat(5</srv>, "file", {}, 0) = 0', "7 lseek(3</srv/tree>, 0, SEEK_SET) = 0"), {})

    def test_text_that_looks_like_a_path_is_none(self):
        self.assertEqual(accesses('7 write(1</dev/null>, "/srv/tree/file", 14) = 14'), {})
        self.assertEqual(accesses('7 execve("/bin/ls", ["ls", "/srv/tree/file"], 0x7) = 0'), {})

    def test_a_name_is_resolved_where_its_process_is(self):
        self.assertEqual(accesses('7 chdir("/srv/tree") = 0', '7 stat("file", 0x7) = 0', '8 stat("file", 0x7) = -1'),
                         {"stat": 1})
        self.assertEqual(accesses("7 fchdir(3</srv/tree>) = 0", '7 lstat("file", 0x7) = 0'), {"lstat": 1})
        self.assertEqual(accesses('7 chdir("/srv/tree") = -1 EACCES', '7 stat("file", 0x7) = 0'), {})

    def test_threads_share_the_place_and_children_have_their_own(self):
        thread = "7 clone(child_stack=0x7, flags=CLONE_VM|CLONE_FS|CLONE_THREAD) = 8"
        child = "7 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 8"
        moves, asks = '7 chdir("/srv/tree") = 0', '8 stat("file", 0x7) = 0'
        self.assertEqual(accesses(thread, moves, asks), {"stat": 1})
        self.assertEqual(accesses(child, moves, asks), {})
        self.assertEqual(accesses(moves, child, asks), {"stat": 1})

    def test_a_call_that_another_interrupts_counts_once(self):
        self.assertEqual(accesses('7 statx(AT_FDCWD</>, "/srv/tree/file", AT_STATX_SYNC_AS_STAT <unfinished ...>',
                                  "7 <... statx resumed>, {stx_mask=STATX_BASIC_STATS}) = 0"), {"statx": 1})


@unittest.skipUnless(shutil.which("strace"), "no strace")
class Commands(unittest.TestCase):
    def test_a_shell_that_stats_by_a_name(self):
        with tempfile.TemporaryDirectory() as home:
            tree = Path(home, "tree")
            tree.mkdir()
            (tree / "file").write_bytes(b"x")
            command = ["sh", "-c", f"cd {tree} && [ -e file ] && [ -e ./missing ]"]
            found = calls.of_files(command, "/", dict(os.environ), 20, str(tree))
            self.assertEqual(sum(found.values()), 1, found)


if __name__ == "__main__":
    unittest.main()
