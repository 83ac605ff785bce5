// SPDX-License-Identifier: MIT OR Apache-2.0

//! The C library as others install and use it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::cargo;
use crate::install::is_there;
use crate::skipped;
use crate::step::Step;

/// Where the tests install the library.
const INSTALLED: &str = "bindings/target/installed";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How the C library is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    Release,
    /// As the tests have it already.
    Dev,
}

/// Installs the C library, and builds a program with it as others do.
pub(super) fn test_installed() -> Result<(), String> {
    let _ = fs::remove_dir_all(INSTALLED);
    install(Path::new(INSTALLED), Build::Dev)?;
    if !is_there("pkg-config") {
        skipped::suite("pkg-config", "installed C library");
        return Ok(());
    }
    let program = format!("{INSTALLED}/loop");
    let source = "bindings/c/tests/programs/loop.cpp";
    let build = format!(
        "export PKG_CONFIG_PATH={INSTALLED}/lib/pkgconfig; \
         c++ -std=c++17 {source} -o {program} $(pkg-config --cflags --libs statwalk)"
    );
    Step::shell(&build).run()?;
    Step::shell(&format!("LD_LIBRARY_PATH={INSTALLED}/lib {program} xtask")).run()
}

/// Builds the C library and installs it under a prefix, with the names that cargo-c gives.
pub(crate) fn install(prefix: &Path, build: Build) -> Result<(), String> {
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
    let template = include_str!("../../../bindings/c/statwalk.pc.in");
    let text = template
        .replace("@PREFIX@", &prefix.to_string_lossy())
        .replace("@VERSION@", VERSION);
    fs::write(lib.join("pkgconfig/statwalk.pc"), text)?;
    println!("{}", prefix.display());
    Ok(())
}
