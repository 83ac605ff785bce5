# SPDX-License-Identifier: MIT OR Apache-2.0
"""The right answers for a tree, from GNU du and GNU find, which share no code with statwalk."""

import os
import subprocess
from dataclasses import asdict, dataclass


@dataclass
class Answer:
    """What is true of a tree. The root counts as one entry, as in find."""

    entries: int = 0
    files: int = 0
    dirs: int = 0
    symlinks: int = 0
    # Sum of st_size over regular files, a file with several names once.
    file_size_bytes: int = 0
    # The same with each name of a file, for engines that know no other.
    name_size_bytes: int = 0
    # Regular files and symbolic links, as GNU du since 9.2 counts --apparent-size.
    apparent_bytes: int = 0
    # `du -B1 -s`: every entry, directories included, a file with several names once.
    allocated_bytes: int = 0
    # Parts of it, for engines that count otherwise.
    dirs_allocated_bytes: int = 0
    symlinks_allocated_bytes: int = 0
    root_allocated_bytes: int = 0

    def as_dict(self) -> dict[str, int]:
        """For the record."""
        return asdict(self)


def partial(**known: int) -> Answer:
    """What is known of a tree that nobody has read: the judge asks for nothing else."""
    return Answer(**{name: known.get(name) for name in Answer.__dataclass_fields__})


class Disagreement(Exception):
    """du and find do not agree: the tree changes, or an assumption is wrong."""


def du_allocated(path: str, cwd: str) -> int:
    """The allocated bytes as du counts them."""
    out = subprocess.run(["du", "-B1", "-s", path], cwd=cwd, stdout=subprocess.PIPE, check=True).stdout
    return int(out.split()[0])


def ask(path: str, cwd: str) -> Answer:
    """Reads the whole tree with find and with du; warms the caches by that."""
    answer = Answer()
    seen: set[tuple[bytes, bytes]] = set()
    allocated = 0
    # Nothing but numbers and letters, one line for each entry whatever its name is.
    process = subprocess.Popen(
        ["find", path, "-printf", "%y %n %D %i %b %s\n"], cwd=cwd, stdout=subprocess.PIPE, bufsize=1 << 20
    )
    assert process.stdout
    for line in process.stdout:
        kind, names, device, inode, blocks, size = line.split()
        answer.entries += 1
        block_bytes = int(blocks) * 512
        if kind == b"d":
            answer.dirs += 1
            answer.dirs_allocated_bytes += block_bytes
            allocated += block_bytes
            continue
        regular, symlink = kind == b"f", kind == b"l"
        answer.files += regular
        answer.symlinks += symlink
        if regular:
            answer.name_size_bytes += int(size)
        if names != b"1":
            if (device, inode) in seen:
                continue
            seen.add((device, inode))
        allocated += block_bytes
        answer.symlinks_allocated_bytes += block_bytes * symlink
        if regular:
            answer.file_size_bytes += int(size)
        if regular or symlink:
            answer.apparent_bytes += int(size)
    if process.wait() != 0:
        raise Disagreement("find could not read everything")
    answer.allocated_bytes = du_allocated(path, cwd)
    answer.root_allocated_bytes = os.lstat(os.path.join(cwd, path)).st_blocks * 512
    if answer.allocated_bytes != allocated:
        raise Disagreement(f"du says {answer.allocated_bytes} bytes allocated, find {allocated}")
    return answer
