# SPDX-License-Identifier: MIT OR Apache-2.0
"""The system calls of a way that ask a file system, for each entry."""

# `read` and `write` are not among them: nobody here reads a file, and Wine's and Java's go to pipes and to what they
# start from.
NAMES = {
    "open", "openat", "openat2", "close", "getdents", "getdents64", "stat", "lstat", "fstat", "newfstatat", "statx",
    "access", "faccessat", "faccessat2", "readlink", "readlinkat", "chdir", "fchdir", "fcntl", "getcwd", "statfs",
    "fstatfs", "lseek", "ioctl",
}


def rates_of(case: dict, data: dict) -> dict[str, dict[str, float]]:
    """Calls an entry, by way and name, the most first; without those that a runtime makes for itself."""
    entries = case["files"] + case["dirs"]
    alone = _of_runtimes(data, case["corpus"])
    found = {}
    for r in case["results"]:
        if "calls" in r and not r["name"].endswith("/nothing"):
            own = alone.get(r["name"].split("/")[0], {})
            rates = {name: (count - own.get(name, 0)) / entries for name, count in r["calls"].items()
                     if name in NAMES and count > own.get(name, 0)}
            found[r["name"]] = dict(sorted(rates.items(), key=lambda item: -item[1]))
    return found


def _of_runtimes(data: dict, corpus: str) -> dict[str, dict[str, int]]:
    """The calls of the programs that walk nothing, by folder."""
    return {r["name"].split("/")[0]: r["calls"] for case in data["cases"] if case["corpus"] == corpus
            and not case["cold"] for r in case["results"] if r["name"].endswith("/nothing") and "calls" in r}
