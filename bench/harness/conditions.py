# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the machine was like: kept beside every result."""

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from .measurement import processors
from .programs import ROOT


def gather() -> dict[str, str]:
    """Kernel, processor, memory, compilers, commit and date."""
    commit, dirty = git_state()
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "statwalk commit": commit + (", with uncommitted changes" if dirty else ""),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "distribution": _os_release(),
        "processor": f"{_cpu_field('model name')}, {processors()} usable of {os.cpu_count()}"
        + (", virtual machine" if "hypervisor" in _cpu_field("flags").split() else ""),
        "memory": f"{_meminfo('MemTotal') / 2**30:.1f} GiB, {_meminfo('MemAvailable') / 2**30:.1f} GiB available",
        "mitigations": _mitigations(),
        "hash of names": _name_hash(),
        "transparent huge pages": _chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
        "frequency governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "none visible",
        "rustc": _output(["rustc", "--version"]),
        "cc": _output([os.environ.get("CC", "cc"), "--version"]),
        "load average at the start": f"{os.getloadavg()[0]:.2f}",
        "cache": "warm: the oracle reads the whole tree before, the first round is dropped",
    }


def git_state() -> tuple[str, bool]:
    """The commit, and whether files differ from it."""
    commit = _output(["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"])
    if not commit or " " in commit or commit == "HEAD":
        return "none", False
    return commit, bool(_output(["git", "-C", str(ROOT), "status", "--porcelain", "--", ".", ":!bench/record"]))


def file_system(path: str) -> str:
    """Type and options of the mount that holds a path."""
    real = os.path.realpath(path)
    best = ("", "unknown")
    with open("/proc/self/mountinfo") as mounts:
        for line in mounts:
            left, _, right = line.partition(" - ")
            fields, after = left.split(), right.split()
            point = fields[4].encode().decode("unicode_escape")
            inside = real == point or real.startswith(point.rstrip("/") + "/")
            # The last of several mounts on one point is the one that is seen.
            if inside and len(point) >= len(best[0]):
                options = list(dict.fromkeys(fields[5].split(",") + after[2].split(",")))
                best = (point, f"{after[0]} ({','.join(options)})")
    return best[1]


def forget_names() -> None:
    """Lets the kernel forget names and inodes, of all file systems, that nothing holds."""
    try:
        Path("/proc/sys/vm/drop_caches").write_text("2")
    except OSError as error:
        sys.exit(f"bench/run: --fresh: {error}")


def names_in_memory() -> int:
    """How many names the kernel remembers, those of which it knows that they do not exist among them."""
    return int(_read("/proc/sys/fs/dentry-state").split()[0])


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    text = done.stdout.decode(errors="replace").strip()
    return text.splitlines()[0] if text and done.returncode == 0 else ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _name_hash() -> str:
    """How many buckets the kernel's hash of names has, which it says once, when it boots."""
    try:
        said = subprocess.run(["dmesg"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except OSError:
        return "unknown"
    found = re.search(rb"Dentry cache hash table entries: (\d+)", said)
    return f"{int(found[1]):,} buckets" if found else "unknown"


def _chosen(path: str) -> str:
    text = _read(path)
    return text[text.find("[") + 1 : text.find("]")] if "[" in text else "unknown"


def _os_release() -> str:
    for line in _read("/etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')
    return "unknown"


def _cpu_field(name: str) -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.split(":")[0].strip() == name:
            return line.split(":", 1)[1].strip()
    return "unknown"


def _meminfo(name: str) -> int:
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


def _mitigations() -> str:
    """Only what is mitigated: this is what makes system calls dearer."""
    active = []
    folder = Path("/sys/devices/system/cpu/vulnerabilities")
    for file in sorted(folder.iterdir()) if folder.exists() else []:
        text = _read(str(file))
        if text.startswith("Mitigation"):
            active.append(file.name)
    return ", ".join(active) or "none"
