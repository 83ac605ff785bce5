# SPDX-License-Identifier: MIT OR Apache-2.0
"""Installs the finished programs at the versions that their definitions name.

A program that is there at its version is left alone, so that a second call costs nothing.
One that cannot be installed is listed with the reason, and the others go on.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from .engine import PROGRAMS, definitions

# Counts system calls; no peer, and installed beside them.
TOOLS = {"strace": "strace"}
# Installing takes long, and nobody waits for it.
NICE = ["nice", "-n", "19"]


class Missing(Exception):
    """A program that cannot be installed; the text says why."""


def install(folder: Path) -> list[str]:
    """Installs all programs. Returns those that are missing, each with the reason, as `missing.txt` has them."""
    for name in ("bin", "log"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    missing = []
    debian = {name: data["install"]["debian"] for name, data in definitions().items() if "debian" in data["install"]}
    missing += _debian(debian | TOOLS, folder)
    for name, data in definitions().items():
        how = data["install"]
        try:
            if "crate" in how:
                _at_version(name, how["version"], folder, lambda: _crate(how["crate"], how["version"], folder))
            elif "suite" in how:
                _at_version(name, how["suite"], folder, lambda: _suite(name, how, folder))
            elif "wheel" in how:
                _at_version(name, how["version"], folder, lambda: _wheel(name, how, folder))
            elif "go" in how:
                version = _go_version(name, how["go"])
                _at_version(name, version, folder, lambda: _go(name, how, version, folder))
        except (Missing, subprocess.CalledProcessError) as reason:
            missing.append(f"{name}: {reason}")
            print(missing[-1], file=sys.stderr)
    (folder / "missing.txt").write_text("".join(f"{line}\n" for line in missing))
    return missing


def _debian(packages: dict[str, str], folder: Path) -> list[str]:
    """Programs of the distribution; without apt they are taken from PATH as they are."""
    wanted = sorted({package for program, package in packages.items() if not shutil.which(program)})
    if wanted and shutil.which("apt-get") and os.geteuid() == 0:
        with open(folder / "log" / "apt.log", "wb") as log:
            for words in (["update"], ["install", "-y", "--no-install-recommends", *wanted]):
                subprocess.run(["apt-get", *words], stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    lacking = {program: package for program, package in packages.items() if not shutil.which(program)}
    return [f"{program}: package {package} is not installed and apt could not (log/apt.log)"
            for program, package in lacking.items()]


def _suite(program: str, how: dict, folder: Path) -> None:
    """A program of another suite of Debian, with the libraries of that suite beside it.

    apt keeps lists of its own here, so that nothing of the machine changes, and checks their signatures.
    """
    home = folder / "lib" / program
    shutil.rmtree(home, ignore_errors=True)
    for name in ("sources", "lists/partial", "cache/archives/partial", "packages"):
        (home / name).mkdir(parents=True)
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    if not shutil.which("apt-get") or not Path(keys).exists():
        raise Missing("no apt-get with Debian's keys")
    (home / "sources" / "suite.sources").write_text(
        f"Types: deb\nURIs: http://deb.debian.org/debian\nSuites: {how['suite']}\nComponents: main\nSigned-By: {keys}\n")
    settings = {"Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": home / "sources",
                "Dir::State::Lists": home / "lists", "Dir::Cache": home / "cache", "APT::Sandbox::User": "root",
                "Acquire::Languages": "none", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false"}
    apt = ["apt-get", *(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))]
    log = folder / "log" / f"{program}.log"
    if not _logged([*apt, "update"], log, str(home / "packages"), {}) or not _logged(
            [*apt, "download", how["package"], *how["libraries"]], log, str(home / "packages"), {}):
        raise Missing(f"apt-get could not get {how['package']} of {how['suite']} (log/{log.name})")
    for package in sorted((home / "packages").iterdir()):
        subprocess.run(["dpkg-deb", "-x", str(package), str(home / "root")], check=True)
    loaders = list((home / "root").glob("usr/lib/*/ld-linux-*.so.*"))
    if len(loaders) != 1:
        raise Missing(f"the packages have {len(loaders)} loaders")
    for reason in _debian({"patchelf": "patchelf"}, folder):
        raise Missing(reason)
    built = shutil.copy2(home / "root" / "usr" / "bin" / how["package"], folder / "bin" / program)
    subprocess.run(["patchelf", "--set-interpreter", str(loaders[0]), "--set-rpath", str(loaders[0].parent), built],
                   check=True)
    for name in ("lists", "cache", "packages"):
        shutil.rmtree(home / name)


def _at_version(program: str, version: str, folder: Path, make) -> None:
    """Calls `make` unless the program is there at its version."""
    stamp = folder / "log" / f"{program}.version"
    if (folder / "bin" / program).exists() and stamp.exists() and stamp.read_text().strip() == version:
        return
    print(f"peers: {program} {version} ...", file=sys.stderr, flush=True)
    make()
    stamp.write_text(f"{version}\n")


def _crate(crate: str, version: str, folder: Path) -> None:
    if not shutil.which("cargo"):
        raise Missing("no cargo")
    # One target directory for all crates: they share many dependencies.
    target = os.environ.get("BENCH_PEERS_TARGET") or f"{tempfile.gettempdir()}/statwalk-bench-peers"
    command = [*NICE, "cargo", "install", "--locked", "--force", "--root", str(folder), f"{crate}@{version}"]
    log = folder / "log" / f"{crate}.log"
    # From the root directory, so that no workspace's settings or toolchain file reach the peers.
    if not _logged(command, log, "/", {"CARGO_TARGET_DIR": target}):
        errors = re.findall(r"^error.*", log.read_text(errors="replace"), flags=re.M)
        raise Missing(f"cargo install {crate}@{version} failed: {errors[0] if errors else f'see log/{log.name}'}")


def _wheel(program: str, how: dict, folder: Path) -> None:
    """A program of PyPI in a folder of its own, so that nothing of the machine's Python changes or takes part."""
    python, version = _python(how["python"])
    home = folder / "lib" / program
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    log = folder / "log" / f"{program}.log"
    wheel = f"{how['wheel']}=={how['version']}"
    # Nothing is built, because that could be another program. `pip install` refuses what its own Python cannot run.
    command = [*NICE, sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:",
               "--python-version", version, "--dest", str(home), wheel]
    if not _logged(command, log, "/", {}):
        errors = re.findall(r"^ERROR.*", log.read_text(errors="replace"), flags=re.M)
        raise Missing(f"pip download {wheel} failed: {errors[-1] if errors else f'see log/{log.name}'}")
    for file in home.glob("*.whl"):
        with zipfile.ZipFile(file) as packed:
            packed.extractall(home)
    module, function = how["start"].split(":")
    started = folder / "bin" / program
    # What pip would write to start it, and the folder.
    started.write_text(f"#!{python}\nimport sys\nsys.path.insert(0, {str(home)!r})\n"
                       f"from {module} import {function}\nsys.exit({function}())\n")
    started.chmod(0o755)


def _python(least: str) -> tuple[str, str]:
    """The newest Python that is there and its version, which is at least this one."""
    folders = [*map(Path, os.get_exec_path()), *Path("~/.pyenv/versions").expanduser().glob("3.*/bin")]
    found = []
    for python in {file for folder in folders for file in folder.glob("python3.*")}:
        # A shim can stand where the Python that it starts is none. A debug build or one without the lock is another.
        if not re.fullmatch(r"python3\.\d+", python.name):
            continue
        asked = subprocess.run([python, "-c", "print('runs')"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if asked.stdout == b"runs\n":
            found.append((int(python.name.split(".")[1]), str(python)))
    number, python = max(found, default=(0, ""))
    if number < int(least.split(".")[1]):
        newest = f"the newest here is 3.{number}" if found else "there is none here"
        raise Missing(f"its wheel needs Python {least} or newer, and {newest}")
    return python, f"3.{number}"


def _go_version(program: str, module: str) -> str:
    text = (PROGRAMS / program / "go.mod").read_text()
    found = re.search(rf"^require {re.escape(module)} (\S+)", text, flags=re.M)
    if not found:
        raise Missing(f"go.mod does not require {module}")
    return found[1]


def _go(program: str, how: dict, version: str, folder: Path) -> None:
    if not shutil.which("go"):
        raise Missing("no go")
    module = how["go"]
    # The flags by which gdu's upstream builds its releases: stripped, its version inside.
    command = [*NICE, "go", "build", "-mod=readonly", "-buildvcs=false", "-trimpath",
               "-ldflags", f"-s -w -X {module}/build.Version={version}",
               "-o", str(folder / "bin" / program), f"{module}/{how['package']}"]
    log = folder / "log" / f"{program}.log"
    if not _logged(command, log, str(PROGRAMS / program), {"CGO_ENABLED": "0"}):
        lines = log.read_text(errors="replace").splitlines()
        raise Missing(f"go build of {module}@{version} failed: {lines[-1] if lines else 'no message'}")


def _logged(command: list[str], log: Path, folder: str, settings: dict[str, str]) -> bool:
    with open(log, "wb") as file:
        return subprocess.run(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              env={**os.environ, **settings}).returncode == 0
