// SPDX-License-Identifier: MIT OR Apache-2.0

//! The bindings: a workspace of their own, and the tools of other languages.
//!
//! Each language that the machine lacks is skipped, and the test command says so.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::install::is_there;
use crate::step::Step;

const MANIFEST: &str = "bindings/Cargo.toml";
/// Where the tests install the C library.
const INSTALLED: &str = "bindings/target/installed";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How the C library is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    Release,
    /// As the tests have it already.
    Dev,
}

/// Formatting and clippy, as for the workspace of the product.
pub(crate) fn check() -> Result<(), String> {
    cargo(&["fmt", "--all"], &["--check"]).run()?;
    let clippy = ["--workspace", "--all-targets", "--", "-D", "warnings"];
    cargo(&["clippy"], &clippy).run()?;
    cargo(&["doc"], &["--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()
}

pub(crate) fn test() -> Result<(), String> {
    if !is_there("cc") || !is_there("c++") {
        println!("xtask: skipped: needs cc and c++ (bindings)");
        return Ok(());
    }
    cargo(&["test"], &["--workspace", "--", "--show-output"]).run_and_list_skipped()?;
    installed_c()
}

/// A call of cargo in the workspace of the bindings.
fn cargo(task: &[&str], more: &[&str]) -> Step {
    let manifest = ["--manifest-path", MANIFEST];
    Step::cargo(&[task, &manifest, more].concat())
}

/// Installs the C library, and builds a program with it as others do.
fn installed_c() -> Result<(), String> {
    let _ = fs::remove_dir_all(INSTALLED);
    install_c(Path::new(INSTALLED), Build::Dev)?;
    if !is_there("pkg-config") {
        println!("xtask: skipped: needs pkg-config (installed C library)");
        return Ok(());
    }
    let program = format!("{INSTALLED}/loop");
    let source = "bindings/c/tests/programs/loop.cpp";
    let build = format!(
        "export PKG_CONFIG_PATH={INSTALLED}/lib/pkgconfig; \
         c++ -std=c++17 {source} -o {program} $(pkg-config --cflags --libs statwalk)"
    );
    shell(&build)?;
    shell(&format!("LD_LIBRARY_PATH={INSTALLED}/lib {program} xtask"))
}

fn shell(command: &str) -> Result<(), String> {
    eprintln!("xtask: {command}");
    match Command::new("sh").args(["-c", command]).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command}: {status}")),
        Err(error) => Err(format!("sh: {error}")),
    }
}

/// Builds the C library and installs it under a prefix, with the names that cargo-c gives.
pub(crate) fn install_c(prefix: &Path, build: Build) -> Result<(), String> {
    let (profile, folder) = match build {
        Build::Release => (&["--release"][..], "release"),
        Build::Dev => (&[][..], "debug"),
    };
    let package = [&["-p", "statwalk-c"], profile].concat();
    cargo(&["build"], &package).run()?;
    let built = Path::new("bindings/target").join(folder);
    let failed = |error: std::io::Error| format!("{}: {error}", prefix.display());
    let prefix = std::path::absolute(prefix).map_err(failed)?;
    install_files(&built, &prefix).map_err(failed)
}

fn install_files(built: &Path, prefix: &Path) -> std::io::Result<()> {
    let (lib, include) = (prefix.join("lib"), prefix.join("include"));
    fs::create_dir_all(lib.join("pkgconfig"))?;
    fs::create_dir_all(&include)?;
    let whole = format!("libstatwalk.so.{VERSION}");
    fs::copy(built.join("libstatwalk.so"), lib.join(&whole))?;
    fs::copy(built.join("libstatwalk.a"), lib.join("libstatwalk.a"))?;
    for name in ["libstatwalk.so.0", "libstatwalk.so"] {
        let link = lib.join(name);
        if link.symlink_metadata().is_ok() {
            fs::remove_file(&link)?;
        }
        symlink(&whole, link)?;
    }
    for header in ["statwalk.h", "statwalk.hpp"] {
        fs::copy(
            Path::new("bindings/c/include").join(header),
            include.join(header),
        )?;
    }
    let template = include_str!("../../bindings/c/statwalk.pc.in");
    let text = template
        .replace("@PREFIX@", &prefix.to_string_lossy())
        .replace("@VERSION@", VERSION);
    fs::write(lib.join("pkgconfig/statwalk.pc"), text)?;
    println!("{}", prefix.display());
    Ok(())
}
