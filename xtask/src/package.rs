// SPDX-License-Identifier: MIT OR Apache-2.0

//! Installs the program as users do, and builds the packages of the crates.

use std::path::Path;
use std::process::Command;

use crate::linking::Linking;
use crate::step::Step;

const ROOT: &str = "target/package/installed";

pub(crate) fn package() -> Result<(), String> {
    // Cargo unpacks each package and builds it with the others' packages in
    // place of the workspace: a file or a dependency that was left out shows.
    let package = [
        "package",
        "--workspace",
        "--exclude=xtask",
        "--exclude=statwalk-testkit",
        "--allow-dirty",
    ];
    Step::cargo(&package).run()?;
    install(&["--locked"])?;
    // With the newest dependencies that the manifests allow, as `cargo install`
    // takes them: one that no longer builds shows here before a user meets it.
    install(&[])
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
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
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
