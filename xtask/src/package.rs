// SPDX-License-Identifier: MIT OR Apache-2.0

//! Installs the program as users do, and builds the packages of the crates.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::linking::Linking;
use crate::step::Step;

const ROOT: &str = "target/package/installed";

pub(crate) fn package() -> Result<(), String> {
    forget_unpacked().map_err(|error| format!("unpacked packages of an earlier run: {error}"))?;
    // Cargo unpacks each package and builds it with the others' packages in
    // place of the workspace: a file or a dependency that was left out shows.
    let package = [
        "package",
        "--workspace",
        "--exclude=xtask",
        "--exclude=statwalk-testkit",
        "--exclude=statwalk-first-programs",
        "--allow-dirty",
    ];
    Step::cargo(&package)
        // Nobody reads the traces of what is only built.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .run()?;
    install(&["--locked"])?;
    // With the newest dependencies that the manifests allow, as `cargo install`
    // takes them: one that no longer builds shows here before a user meets it.
    install(&[])
}

/// Removes what Cargo unpacked of our packages in an earlier run. They stand in
/// Cargo's home under the path of the checkout, and it takes them for the new
/// ones as long as the version is the same, whatever the files hold.
fn forget_unpacked() -> io::Result<()> {
    let home = (env::var_os("CARGO_HOME").map(PathBuf::from))
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let Some(sources) = home.map(|home| home.join("registry/src")) else {
        return Ok(());
    };
    for registry in entries(&sources)? {
        // A registry in a directory has no host before the hyphen.
        if !registry
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"-"))
        {
            continue;
        }
        for package in entries(&registry)? {
            let name = package.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("statwalk-") {
                fs::remove_dir_all(&package)?;
            }
        }
    }
    Ok(())
}

/// Paths of the entries of a directory; none if it does not exist.
fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Installs from the checkout, and runs the program.
fn install(more: &[&str]) -> Result<(), String> {
    let mut words = vec![
        "install",
        "--path=crates/statwalk",
        "--force",
        "--no-track",
        "--target-dir=target/package/build",
        "--root",
        ROOT,
    ];
    words.extend(more);
    Step::cargo(&words)
        // Optimisation changes no error of a build, and takes minutes twice.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .run()?;
    let program = Path::new(ROOT).join("bin/statwalk");
    let fault = |fault: &dyn std::fmt::Display| format!("{}: {fault}", program.display());
    Linking::of(&program)?
        .check()
        .map_err(|error| fault(&error))?;
    let scan = Command::new(&program).args(["-s", "crates"]).status();
    match scan {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(fault(&status)),
        Err(error) => Err(fault(&error)),
    }
}
