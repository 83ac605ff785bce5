// SPDX-License-Identifier: MIT OR Apache-2.0

//! The types of the engine on other systems, by a compiler that builds their `std`.

use std::path::Path;
use std::process::Command;

use crate::step::Step;

/// The compiler of Debian's package `rustc-web`: rustup's has no sources of `std` here.
const CARGO: &str = "/usr/bin/cargo";
const RUSTC: &str = "/usr/bin/rustc";
/// In Debian's package `rust-web-src`.
const STD: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";

/// The systems, each with a program that a build of its `std` calls, and its package.
const TARGETS: [(&str, Option<(&str, &str)>); 4] = [
    (
        "x86_64-pc-windows-gnu",
        Some((
            "/usr/bin/x86_64-w64-mingw32-dlltool",
            "binutils-mingw-w64-x86-64",
        )),
    ),
    ("aarch64-apple-darwin", None),
    ("x86_64-unknown-freebsd", None),
    ("aarch64-unknown-linux-gnu", None),
];

/// Checks the types of the engine for each system, with warnings denied.
///
/// A first run takes some minutes, because it compiles `std` for each.
pub(crate) fn check() -> Result<(), String> {
    let packages = [
        (CARGO, "cargo-web"),
        (RUSTC, "rustc-web"),
        (STD, "rust-web-src"),
    ];
    for (file, package) in packages {
        if !Path::new(file).exists() {
            println!("skipped: the types on other systems need Debian's {package}");
            return Ok(());
        }
    }
    if !is_of_the_sources() {
        println!("skipped: the types on other systems need the compiler of Debian's rustc-web");
        return Ok(());
    }
    let mut arguments = vec!["check", "-Zbuild-std", "-p", "statwalk-core"];
    for (target, needs) in TARGETS {
        match needs {
            Some((program, package)) if !Path::new(program).exists() => {
                println!("skipped: the types on {target} need Debian's {package}");
            }
            _ => arguments.extend(["--target", target]),
        }
    }
    Step::program(CARGO, &arguments)
        .env("RUSTC", RUSTC)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-D warnings")
        .env("CARGO_TARGET_DIR", "target/targets")
        // Nothing of it runs.
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .run()
}

/// Whether the compiler is that of the packages whose sources of `std` are there: Debian has
/// an older one under the same names.
fn is_of_the_sources() -> bool {
    [(CARGO, "cargo-web:"), (RUSTC, "rustc-web:")]
        .iter()
        .all(|(file, package)| {
            let owner = Command::new("dpkg").args(["-S", file]).output();
            owner.is_ok_and(|output| output.stdout.starts_with(package.as_bytes()))
        })
}
