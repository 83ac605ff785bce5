// SPDX-License-Identifier: MIT OR Apache-2.0

//! Installs the programs that tests call, where that is possible.
//!
//! A test whose program is missing skips and says so; nothing fails here.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::skipped;

/// A new machine updates itself for some minutes, and the package manager serves one at a time.
const PATIENCE: Duration = Duration::from_secs(1_200);
const PAUSE: Duration = Duration::from_secs(3);

/// A program or another file, and the Debian package that brings it.
const TOOLS: &[(&str, &str)] = &[
    ("mandoc", "mandoc"),
    ("mkfs.xfs", "xfsprogs"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("compsize", "btrfs-compsize"),
    ("debugfs", "e2fsprogs"),
    ("mksquashfs", "squashfs-tools"),
    ("strace", "strace"),
    ("prlimit", "util-linux"),
    ("fusermount3", "fuse3"),
    ("du", "coreutils"),
    ("find", "findutils"),
    ("faketime", "faketime"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("jq", "jq"),
    ("valgrind", "valgrind"),
    ("pkg-config", "pkg-config"),
    ("doxygen", "doxygen"),
    // For the examples of the C library in other languages.
    ("mcs", "mono-mcs"),
    ("mono", "mono-runtime"),
    ("go", "golang-go"),
    (
        "/usr/share/doc/libffi-platypus-perl",
        "libffi-platypus-perl",
    ),
    ("/usr/share/doc/qt6-base-dev", "qt6-base-dev"),
    ("chromium", "chromium"),
    ("firefox-esr", "firefox-esr"),
    // For the types of the engine on other systems.
    ("/usr/bin/cargo", "cargo-web"),
    ("/usr/bin/rustc", "rustc-web"),
    (
        "/usr/lib/rustlib/src/rust/library/std/Cargo.toml",
        "rust-web-src",
    ),
    ("x86_64-w64-mingw32-dlltool", "binutils-mingw-w64-x86-64"),
];

pub(crate) fn tools() {
    let missing: Vec<&str> = TOOLS
        .iter()
        .filter(|(program, _)| !is_there(program))
        .map(|&(_, package)| package)
        .collect();
    if missing.is_empty() {
        return;
    }
    if !is_root() || !is_there("apt-get") {
        let line = format!(
            "not installed (needs root and apt-get): {}",
            missing.join(" ")
        );
        println!("xtask: {line}");
        skipped::note(&line);
        return;
    }
    println!("xtask: installing {}", missing.join(" "));
    let apt = |arguments: &[&str]| until_unlocked(PATIENCE, PAUSE, || apt_get(arguments));
    // Lists may be old or absent on a new machine.
    if let Err(reason) = apt(&["update"]) {
        println!("xtask: apt-get update: {reason}");
    }
    if apt(&[&["install"], &missing[..]].concat()).is_ok() {
        return;
    }
    // One that cannot be had must not keep the others away.
    for package in missing {
        if let Err(reason) = apt(&["install", package]) {
            println!("xtask: could not install {package}: {reason}");
            skipped::note(&format!(
                "not installed: {package}: tests that need it are skipped"
            ));
        }
    }
}

/// One call of apt-get, and its errors where it fails.
fn apt_get(arguments: &[&str]) -> Result<(), String> {
    let done = Command::new("apt-get")
        .args(["-q", "-y", "--no-install-recommends"])
        // In its queue for the lock of dpkg, and not behind it. Those of the lists and of the
        // archives have no queue.
        .args(["-o", "DPkg::Lock::Timeout=60"])
        .args(arguments)
        .envs([("DEBIAN_FRONTEND", "noninteractive"), ("LC_ALL", "C")])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
    }
}

/// Calls it again and again while another process has a lock of the package manager.
fn until_unlocked(
    patience: Duration,
    pause: Duration,
    mut call: impl FnMut() -> Result<(), String>,
) -> Result<(), String> {
    let begun = Instant::now();
    let mut is_said = false;
    loop {
        match call() {
            Err(reason) if is_locked(&reason) && begun.elapsed() < patience => {
                if !is_said {
                    println!("xtask: waiting for the package manager: {reason}");
                    is_said = true;
                }
                std::thread::sleep(pause);
            }
            ended => return ended,
        }
    }
}

/// Whether another process has the lock of the lists, of the archives, or one of dpkg.
fn is_locked(reason: &str) -> bool {
    const SAID: [&str; 3] = [
        "Could not get lock",
        "Unable to acquire the dpkg frontend lock",
        "Unable to lock the administration directory",
    ];
    SAID.iter().any(|said| reason.contains(said))
}

/// Whether a program is in the search path. A path from the root stands for itself.
pub(crate) fn is_there(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = path.split(':').chain(["/usr/sbin", "/sbin"]);
    folders
        .into_iter()
        .any(|folder| Path::new(folder).join(program).exists())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout == b"0\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: &str =
        "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 81 (apt-get)";

    fn calls_until(patience: Duration, mut answers: Vec<Result<(), &str>>) -> (usize, bool) {
        let mut calls = 0;
        let ended = until_unlocked(patience, Duration::ZERO, || {
            calls += 1;
            match answers.len() {
                1 => answers[0].map_err(str::to_owned),
                _ => answers.remove(0).map_err(str::to_owned),
            }
        });
        (calls, ended.is_ok())
    }

    /// A machine that updated itself left the tests of thirteen packages out.
    #[test]
    fn a_busy_package_manager_is_waited_for() {
        let long = Duration::from_secs(60);
        assert_eq!(
            calls_until(long, vec![Err(HELD), Err(HELD), Ok(())]),
            (3, true)
        );
        let absent = "E: Unable to locate package moon";
        assert_eq!(calls_until(long, vec![Err(HELD), Err(absent)]), (2, false));
        assert_eq!(calls_until(Duration::ZERO, vec![Err(HELD)]), (1, false));
    }
}
