// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tests of the viewer of reports. They need Node and packages of npm, which nothing
//! else here needs, so without them they are skipped.

use std::path::Path;
use std::{fs, io};

use crate::install::is_there;
use crate::skipped;
use crate::step::Step;

pub(crate) const FOLDER: &str = "crates/statwalk-report/viewer";
/// Written by npm as the last step of an installation.
const INSTALLED: &str = "node_modules/.package-lock.json";

pub(crate) fn test() -> Result<(), String> {
    if !is_there("node") || !is_there("npm") {
        skipped::suite("node and npm", "viewer of reports");
        return Ok(());
    }
    let folder = Path::new(FOLDER);
    if !is_fresh(folder).unwrap_or(false) {
        let install = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
        if let Err(reason) = Step::npm(&install, FOLDER).run() {
            if is_offline() {
                skipped::suite("the registry of npm", "viewer of reports");
                return Ok(());
            }
            return Err(reason);
        }
    }
    // The test of every number compares the page with the answers of the program. Built
    // alone, it would have other features than the one that the tests run.
    Step::cargo(&["test", "--workspace", "--no-run"]).run()?;
    Step::npm(&["test"], FOLDER).run_and_note_skipped()
}

/// Whether the packages were installed after the lock file was written.
fn is_fresh(folder: &Path) -> io::Result<bool> {
    let installed = fs::metadata(folder.join(INSTALLED))?.modified()?;
    Ok(installed >= fs::metadata(folder.join("package-lock.json"))?.modified()?)
}

/// Whether the registry does not answer.
fn is_offline() -> bool {
    !Step::npm(&["ping"], FOLDER).succeeds_quietly()
}
