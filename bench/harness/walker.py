# SPDX-License-Identifier: MIT OR Apache-2.0
"""The small programs of `engines/`: what their definitions say, and their builds."""

import fnmatch
import re
import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from .programs import BENCH, TARGET
from .walk_oracle import Tree, Unjudged

ENGINES = BENCH / "engines"
MODELS = ("count", "size", "records", "directory")


@dataclass
class Walker:
    """One way to walk, as `engines/README.md` defines it."""

    name: str
    what: str
    folder: Path
    run: list[str]
    models: list[str]
    counts: str
    threads: str
    article: int | None = None
    remark: str = ""
    version: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    # Walks nothing: what it costs is the cost of what the others run in.
    is_baseline: bool = False
    # Larger trees would take it too long: how many entries, and why.
    entries_max: int | None = None
    entries_max_why: str = ""
    # Whether it ends where a link leads to a directory above it.
    ends_in_loops: bool = True
    # Runs as long as engines of the folder do, so that none of them starts it.
    keep: list[str] = field(default_factory=list)
    # Of the folder's files, those of which only ways that name them are made, and those that choose among ways.
    own: list[str] = field(default_factory=list)
    chooses: list[str] = field(default_factory=list)

    @property
    def out(self) -> Path:
        """Where the build leaves what runs."""
        return TARGET / "engines" / self.folder.name

    def command(self, model: str, rounds: int, path: str) -> list[str]:
        """The command line."""
        return [*map(self._placed, self.run), model, str(rounds), path]

    def may_walk(self, tree: Tree) -> None:
        """Raises `Unjudged` where a tree would keep it for too long."""
        entries = tree.names.files + tree.names.dirs
        if not self.ends_in_loops and tree.leads_upwards:
            raise Unjudged("not asked about a tree in which a link leads upwards: it would not end")
        if self.entries_max is not None and entries > self.entries_max:
            raise Unjudged(f"not asked about more than {self.entries_max:,} entries: {self.entries_max_why}")

    def settings(self) -> dict[str, str]:
        """What must stand in its environment."""
        return {name: self._placed(value) for name, value in self.environment.items()}

    def keep_command(self) -> list[str]:
        """What runs meanwhile; empty for nothing."""
        return [*map(self._placed, self.keep)]

    def version_text(self) -> str:
        """The first line of what it says of its version."""
        if not self.version:
            return ""
        try:
            done = subprocess.run([*map(self._placed, self.version)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return "unknown"
        lines = done.stdout.decode(errors="replace").split("\n")
        return re.sub(r"\s+", " ", next((line for line in lines if line.strip()), "unknown")).strip()

    def _placed(self, word: str) -> str:
        return re.sub(r"\bOUT\b", str(self.out), word)


def all_walkers() -> list[Walker]:
    """Every definition, in the order of folders and files."""
    found = []
    for file in sorted(ENGINES.glob("*/engine.toml")):
        data = tomllib.loads(file.read_text())
        entries = data["engine"]
        # What one engine of a folder keeps running, it keeps for all of them.
        keep = next((entry["keep"] for entry in entries if "keep" in entry), [])
        for entry in entries:
            found.append(Walker(
                name=entry["name"], what=entry["what"], folder=file.parent, run=entry["run"],
                models=entry["models"], counts=entry.get("counts", "names"), threads=str(entry.get("threads", 1)),
                article=entry.get("article"), remark=" ".join(entry.get("remark", "").split()),
                version=entry.get("version", []), environment=entry.get("environment", {}),
                is_baseline=entry.get("baseline", False), keep=keep,
                entries_max=entry.get("entries_max"), entries_max_why=entry.get("entries_max_why", ""),
                ends_in_loops=entry.get("ends_in_loops", True), own=entry.get("own", []),
                chooses=data.get("chooses", []),
            ))
    return found


def need(package: str) -> str | None:
    """Installs a Debian package. Returns why it could not."""
    done = subprocess.run([str(ENGINES / "need"), package], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return None if done.returncode == 0 else done.stdout.strip() or f"{package} could not be installed"


def fits(name: str, patterns: str | None) -> bool:
    """Whether a name fits one of the patterns, which are separated by commas; without any it does."""
    return not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split(","))


def build(walkers: list[Walker]) -> dict[str, str]:
    """Builds the folders that the walkers need. Returns why folders are missing."""
    missing = {}
    for folder in sorted({w.folder for w in walkers}):
        out = TARGET / "engines" / folder.name
        out.mkdir(parents=True, exist_ok=True)
        log = TARGET / "engines" / f"{folder.name}.log"
        print(f"engines: {folder.name} ...", flush=True)
        with open(log, "wb") as file:
            done = subprocess.run([str(folder / "build"), str(out)], cwd=folder, stdout=file,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
            missing[folder.name] = lines[-1] if lines else f"build ended with status {done.returncode}"
    return missing
