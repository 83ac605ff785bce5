// SPDX-License-Identifier: MIT OR Apache-2.0

//! Properties of the source that no compiler checks.

mod constructors;
mod door;
mod environment;
mod errors;
mod examples;
mod layers;
mod licence;
mod map;
mod paths;
mod prose;
mod rust_versions;
mod unsafe_code;
mod wording;

use std::fs;
use std::path::{Path, PathBuf};

use crate::figures;
use crate::picture::age;

pub(crate) fn tidy() -> Result<(), String> {
    let mut faults = Vec::new();
    let files = tracked_files()?;
    let [platform, manual] =
        environment::PAGES.map(|page| fs::read_to_string(page).unwrap_or_default());
    for file in &files {
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        licence::check(file, &text, &mut faults);
        map::check(file, &text, &mut faults);
        layers::check(file, &text, &mut faults);
        constructors::check(file, &text, &mut faults);
        door::check(file, &text, &mut faults);
        examples::check(file, &text, &mut faults);
        errors::check(file, &text, &mut faults);
        unsafe_code::check(file, &text, &mut faults);
        wording::check(file, &text, &mut faults);
        environment::check(file, &text, [&platform, &manual], &mut faults);
        if is_product_source(file) {
            paths::check_comments(file, &text, &files, &mut faults);
        }
        if file.extension().is_some_and(|extension| extension == "md") {
            paths::check(file, &text, &mut faults);
        }
    }
    figures::check(&mut faults);
    age::check(&mut faults);
    rust_versions::check(&mut faults);
    if faults.is_empty() {
        println!("xtask: tidy: {} files", files.len());
        Ok(())
    } else {
        Err(format!("tidy:\n  {}", faults.join("\n  ")))
    }
}

/// Sources outside of the checks themselves, whose examples name pages that are not there.
fn is_product_source(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "rs") && !file.starts_with("xtask")
}

pub(crate) fn tracked_files() -> Result<Vec<PathBuf>, String> {
    let output = std::process::Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|error| format!("git ls-files: {error}"))?;
    let list = String::from_utf8_lossy(&output.stdout);
    Ok(list.lines().map(PathBuf::from).collect())
}
