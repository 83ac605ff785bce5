# SPDX-License-Identifier: MIT OR Apache-2.0
"""File systems of one's own: on a loop device with direct I/O, or in memory."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MKFS = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-i", "8192"],
    # Its listings have no types, as the XFS of article 5 had none: this kernel mounts no XFS so old.
    "ext4-untyped": ["mkfs.ext4", "-q", "-F", "-i", "8192", "-O", "^filetype"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
}
KINDS = (*MKFS, "tmpfs")
SIZE_BYTES = 8 << 30
# The Debian package of each program.
PACKAGES = {"mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs", "mkfs.btrfs": "btrfs-progs"}


@contextmanager
def mounted(kind: str, folder: Path, size_bytes: int = SIZE_BYTES) -> Iterator[Path]:
    """A new, empty file system; it is gone afterwards.

    Direct I/O, so that the page cache holds nothing of the image. Needs root.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{kind}-", dir=folder) as home:
        image, at = Path(home) / "image", Path(home) / "at"
        at.mkdir()
        device = None
        if kind == "tmpfs":
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"nr_inodes=0,size={size_bytes}", "bench", str(at)],
                           check=True)
        else:
            with open(image, "wb") as file:
                file.truncate(size_bytes)
            device = subprocess.run(["losetup", "--direct-io=on", "-f", "--show", str(image)], check=True,
                                    stdout=subprocess.PIPE, text=True).stdout.strip()
        try:
            if device:
                subprocess.run([*MKFS[kind], device], check=True, stdout=subprocess.DEVNULL)
                subprocess.run(["mount", device, str(at)], check=True)
            try:
                yield at
            finally:
                _unmount(at)
        finally:
            if device:
                subprocess.run(["losetup", "-d", device], check=True)


def size_for(entries: int) -> int:
    """How large a file system must be for a tree: ext4 has an inode for 8 KiB. Nothing of it is taken before it is used."""
    return max(SIZE_BYTES, entries * 12288)


def _unmount(at: Path) -> None:
    """Waits for programs that were killed and have not let go yet."""
    for _ in range(40):
        if subprocess.run(["umount", str(at)], stderr=subprocess.DEVNULL).returncode == 0:
            return
        time.sleep(0.25)
    subprocess.run(["umount", str(at)], check=True)


def device_of(at: Path) -> Path:
    """The device of a mount."""
    found = subprocess.run(["findmnt", "-no", "SOURCE", str(at)], check=True, stdout=subprocess.PIPE, text=True)
    return Path(found.stdout.strip())


def drop_caches(path: str) -> None:
    """Nothing of a file system stays in memory."""
    subprocess.run(["sync", "-f", path], check=True)
    Path("/proc/sys/vm/drop_caches").write_text("3")


def lacks(kind: str) -> str | None:
    """The Debian package without which there is no file system of this kind."""
    program = MKFS[kind][0] if kind in MKFS else None
    return PACKAGES[program] if program and not shutil.which(program) else None


def may_mount() -> bool:
    """Whether this process can mount."""
    return os.geteuid() == 0
