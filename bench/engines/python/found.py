# SPDX-License-Identifier: MIT OR Apache-2.0

"""What a round has found."""

import os
import stat
import sys


class Found:
    def __init__(self):
        self.files = 0
        self.directories = 0
        self.bytes = 0
        self.records = []
        self.failed = False

    def fail(self, error):
        # A path may hold what standard error cannot encode.
        text = str(error).encode(errors="surrogateescape")
        os.write(sys.stderr.fileno(), text + b"\n")
        self.failed = True

    def answer(self, model):
        if model != "records":
            return self.files, self.directories, self.bytes
        # From the records alone, so that they must be there.
        directories = sum(stat.S_ISDIR(mode) for _, _, mode, _, _, _ in self.records)
        size = sum(size for _, size, mode, _, _, _ in self.records if stat.S_ISREG(mode))
        mtime = sum(mtime_ns // 10**9 for _, _, _, mtime_ns, _, _ in self.records)
        return len(self.records) - directories, directories, size, signed(mtime)


def record(name, st):
    return name, st.st_size, st.st_mode, st.st_mtime_ns, st.st_atime_ns, st.st_ctime_ns


def signed(number):
    """The lowest 64 bits, as C has them."""
    return (number + 2**63) % 2**64 - 2**63
