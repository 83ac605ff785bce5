// SPDX-License-Identifier: MIT OR Apache-2.0

//! The Node package.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use super::cargo;
use crate::install::is_there;
use crate::skipped;
use crate::step::Step;

pub(super) const FOLDER: &str = "bindings/node";
/// Written by npm as the last step of an installation.
const INSTALLED: &str = "bindings/node/node_modules/.package-lock.json";
const BUILT: &str = "bindings/target/debug/libstatwalk_node.so";
/// The name by which `native.js` loads it from a checkout.
const MODULE: &str = "bindings/node/statwalk.node";

pub(super) fn test() -> Result<(), String> {
    let needs = |what: &str| skipped::suite(what, "bindings to Node");
    if !has_node() || !is_there("npm") {
        needs("Node 20 and npm");
        return Ok(());
    }
    if !is_fresh().unwrap_or(false) {
        let install = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
        if let Err(reason) = Step::npm(&install, FOLDER).run() {
            if !Step::npm(&["ping"], FOLDER).succeeds_quietly() {
                needs("the registry of npm");
                return Ok(());
            }
            return Err(reason);
        }
    }
    cargo(&["build"], &["-p", "statwalk-node"]).run()?;
    // A process that has the old one open keeps it.
    let _ = fs::remove_file(MODULE);
    fs::copy(BUILT, MODULE).map_err(|error| format!("{MODULE}: {error}"))?;
    Step::npm(&["test"], FOLDER).run_and_note_skipped()
}

pub(super) fn has_node() -> bool {
    let code = "process.exit(process.versions.node.split('.')[0] >= 20 ? 0 : 1)";
    let node = Command::new("node").args(["-e", code]).status();
    is_there("node") && node.is_ok_and(|status| status.success())
}

/// Whether the packages were installed after the lock file was written.
fn is_fresh() -> io::Result<bool> {
    let installed = fs::metadata(INSTALLED)?.modified()?;
    let lock = Path::new(FOLDER).join("package-lock.json");
    Ok(installed >= fs::metadata(lock)?.modified()?)
}
