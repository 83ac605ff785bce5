# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds what the comparison needs: its own small programs, statwalk, the peers."""

import os
import shutil
import subprocess
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
TARGET = BENCH / "target"
PEERS = BENCH / "peers"
CC_FLAGS = ["-std=gnu11", "-O2", "-pthread"]


class BuildError(Exception):
    """A program that the comparison cannot do without was not built."""


def build_own() -> dict[str, Path]:
    """Compiles the floors, the generator and the runner, and returns where they are."""
    TARGET.mkdir(exist_ok=True)
    compiler = os.environ.get("CC", "cc")
    built = {}
    for name in ("btrfs_floor", "ext4_floor", "floor", "generator", "runner"):
        source = BENCH / name / f"{name}.c"
        binary = TARGET / name
        if not binary.exists() or binary.stat().st_mtime <= source.stat().st_mtime:
            # The runner is static because its memory is the least that it can report.
            flags = CC_FLAGS + (["-static"] if name == "runner" else [])
            command = [compiler, *flags, "-o", str(binary), str(source)]
            if subprocess.run(command).returncode != 0:
                raise BuildError(f"{name} did not compile")
        built[name] = binary
    return built


def build_experiment(name: str) -> Path:
    """Compiles one of the experiments and returns where it is."""
    TARGET.mkdir(exist_ok=True)
    binary = TARGET / name
    source = BENCH / "experiments" / f"{name}.c"
    subprocess.run([os.environ.get("CC", "cc"), *CC_FLAGS, "-o", str(binary), str(source)], check=True)
    return binary


def build_statwalk() -> Path:
    """Builds the program that users get and returns a copy, which a later build leaves alone."""
    done = subprocess.run(["cargo", "xtask", "dist"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise BuildError("statwalk did not compile (--without-statwalk compares the others)")
    TARGET.mkdir(exist_ok=True)
    installed = TARGET / "statwalk"
    installed.unlink(missing_ok=True)
    return Path(shutil.copy2(done.stdout.splitlines()[-1], installed))


def install_peers() -> None:
    """Installs missing peers; those that fail are listed and left out."""
    subprocess.run([str(BENCH / "install"), str(PEERS)], check=True)


def missing_peers() -> list[str]:
    """What the last installation could not provide, with the reasons."""
    listed = PEERS / "missing.txt"
    return listed.read_text().splitlines() if listed.exists() else []


def find_program(name: str) -> str | None:
    """The path of a peer: our own installation first, then PATH."""
    own = PEERS / "bin" / name
    return str(own) if own.exists() else shutil.which(name)
