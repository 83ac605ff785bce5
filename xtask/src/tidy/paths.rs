// SPDX-License-Identifier: MIT OR Apache-2.0

//! Paths that documents name.

use std::path::Path;

/// Paths in backquotes that look like files of this repository must exist.
pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
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
