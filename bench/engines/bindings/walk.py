# SPDX-License-Identifier: MIT OR Apache-2.0

"""statwalk for Python, entry by entry: walk.py MODEL ROUNDS PATH."""

import stat
import sys
import time

import statwalk

FIELDS = {
    "count": "type",
    "size": ("type", "size"),
    "directory": ("type", "size"),
    "records": ("type", "mode", "size", "mtime", "atime", "ctime"),
}

failed = False


def complain(error):
    global failed
    failed = True
    print(error, file=sys.stderr)


def sums(entries):
    files = directories = size = 0
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            directories += 1
            continue
        files += 1
        if entry.is_file(follow_symlinks=False):
            size += entry.stat.st_size
    return files, directories, size


def count(entries):
    directories = total = 0
    for entry in entries:
        total += 1
        directories += entry.is_dir(follow_symlinks=False)
    return total - directories, directories, 0


def records(entries):
    kept = []
    for entry in entries:
        st = entry.stat
        kept.append((entry.name, st.st_size, st.st_mode, st.st_mtime_ns, st.st_atime_ns, st.st_ctime_ns))
    directories = sum(stat.S_ISDIR(mode) for _, _, mode, _, _, _ in kept)
    size = sum(size for _, size, mode, _, _, _ in kept if stat.S_ISREG(mode))
    mtime = sum(mtime_ns // 10**9 for _, _, _, mtime_ns, _, _ in kept)
    return len(kept) - directories, directories, size, (mtime + 2**63) % 2**64 - 2**63


WAYS = {"count": count, "size": sums, "directory": sums, "records": records}


def main():
    model, rounds, path = sys.argv[1:]
    depth = 1 if model == "directory" else None
    for _ in range(int(rounds)):
        start = time.monotonic_ns()
        with statwalk.scan(path, fields=FIELDS[model], max_depth=depth, onerror=complain) as entries:
            answer = WAYS[model](entries)
        elapsed = time.monotonic_ns() - start
        print(elapsed, *answer, flush=True)
    return int(failed)


sys.exit(main())
