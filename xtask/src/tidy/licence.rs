// SPDX-License-Identifier: MIT OR Apache-2.0

//! The licence line at the top of each source.

use std::path::Path;

pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    let extension = file.extension().and_then(|extension| extension.to_str());
    // Without "js": the page of reports is made from sources that have the line.
    let is_source = matches!(
        extension,
        Some("rs" | "c" | "h" | "cpp" | "hpp" | "java" | "py" | "pyi" | "sh" | "go" | "ts" | "mjs")
    );
    if is_source
        && !text
            .lines()
            .take(2)
            .any(|line| line.contains("SPDX-License-Identifier"))
    {
        faults.push(format!("{}: no SPDX line at the top", file.display()));
    }
}
