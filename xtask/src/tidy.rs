// SPDX-License-Identifier: MIT OR Apache-2.0

//! Properties of the source that no compiler checks.

use std::fs;
use std::path::{Path, PathBuf};

/// Layers of the engine: what a folder must not name.
///
/// `order` never names a file system, `sink` never names a source, the data
/// at the bottom knows neither, and `decode` reads nothing.
const LAYERS: [(&str, &[&str]); 7] = [
    (
        "crates/statwalk-core/src/entry.rs",
        &["crate::source", "crate::order", "crate::sink", "rustix"],
    ),
    (
        "crates/statwalk-core/src/batch.rs",
        &["crate::source", "crate::order", "crate::sink", "rustix"],
    ),
    (
        "crates/statwalk-core/src/directory.rs",
        &["crate::source", "crate::order", "crate::sink", "rustix"],
    ),
    (
        "crates/statwalk-core/src/handle.rs",
        &["crate::source", "crate::order", "crate::sink", "rustix"],
    ),
    (
        "crates/statwalk-core/src/decode",
        &[
            "crate::source",
            "crate::order",
            "crate::sink",
            "rustix",
            "std::fs",
            "std::io",
        ],
    ),
    (
        "crates/statwalk-core/src/sink",
        &["crate::source", "crate::order", "rustix"],
    ),
    (
        "crates/statwalk-core/src/source",
        &["crate::order", "crate::sink"],
    ),
];

pub(crate) fn tidy() -> Result<(), String> {
    let mut faults = Vec::new();
    let files = tracked_files()?;
    for file in &files {
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        check_licence(file, &text, &mut faults);
        check_layers(file, &text, &mut faults);
        if file.extension().is_some_and(|extension| extension == "md") {
            check_paths(file, &text, &mut faults);
        }
    }
    if faults.is_empty() {
        println!("xtask: tidy: {} files", files.len());
        Ok(())
    } else {
        Err(format!("tidy:\n  {}", faults.join("\n  ")))
    }
}

fn tracked_files() -> Result<Vec<PathBuf>, String> {
    let output = std::process::Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|error| format!("git ls-files: {error}"))?;
    let list = String::from_utf8_lossy(&output.stdout);
    Ok(list.lines().map(PathBuf::from).collect())
}

fn check_licence(file: &Path, text: &str, faults: &mut Vec<String>) {
    let extension = file.extension().and_then(|extension| extension.to_str());
    let is_source = matches!(extension, Some("rs" | "c" | "h" | "py" | "sh" | "go"));
    if is_source
        && !text
            .lines()
            .take(2)
            .any(|line| line.contains("SPDX-License-Identifier"))
    {
        faults.push(format!("{}: no SPDX line at the top", file.display()));
    }
}

fn check_layers(file: &Path, text: &str, faults: &mut Vec<String>) {
    for (layer, forbidden) in LAYERS {
        // Tests of a layer compare it with what it must not name.
        if !file.starts_with(layer) || file.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let named = forbidden.iter().find(|name| line.contains(*name));
            if let Some(name) = named.filter(|_| !line.trim_start().starts_with("//")) {
                faults.push(format!("{}:{}: names {name}", file.display(), number + 1));
            }
        }
    }
}

/// Paths in backquotes that look like files of this repository must exist.
fn check_paths(file: &Path, text: &str, faults: &mut Vec<String>) {
    let roots = ["crates/", "docs/", "bench/", "xtask/", ".ci/", "fuzz/"];
    for (number, line) in text.lines().enumerate() {
        for quoted in line.split('`').skip(1).step_by(2) {
            let is_path = roots.iter().any(|root| quoted.starts_with(root))
                && !quoted.contains([' ', '*', '{', '<', '…']);
            if is_path && !Path::new(quoted).exists() && !is_made_later(quoted) {
                faults.push(format!("{}:{}: no {quoted}", file.display(), number + 1));
            }
        }
    }
}

/// Folders that are generated and not kept.
fn is_made_later(path: &str) -> bool {
    [
        "bench/peers",
        "bench/corpora",
        "bench/target",
        "bench/record",
    ]
    .iter()
    .any(|folder| path.starts_with(folder))
}
