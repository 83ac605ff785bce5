// SPDX-License-Identifier: MIT OR Apache-2.0

//! Installs the programs that tests call, where that is possible.
//!
//! A test whose program is missing skips and says so; nothing fails here.

use std::path::Path;
use std::process::{Command, Stdio};

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
        println!(
            "xtask: not installed (needs root and apt-get): {}",
            missing.join(" ")
        );
        return;
    }
    println!("xtask: installing {}", missing.join(" "));
    let apt = |arguments: &[&str]| {
        Command::new("apt-get")
            .args(["-q", "-y", "--no-install-recommends"])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    // Lists may be old or absent on a new machine.
    if !apt(&["update"]) {
        println!("xtask: apt-get update failed");
    }
    for package in missing {
        if !apt(&["install", package]) {
            println!("xtask: could not install {package}: tests that need it are skipped");
        }
    }
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
