// SPDX-License-Identifier: MIT OR Apache-2.0

//! Paths that documents and comments name.

use std::path::{Path, PathBuf};

/// Documents that a comment of a source names must exist, so that no reader looks for a
/// page that the repository does not have.
pub(super) fn check_comments(file: &Path, text: &str, files: &[PathBuf], faults: &mut Vec<String>) {
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let Some(comment) = line.strip_prefix("//") else {
            continue;
        };
        for page in pages_in(comment) {
            let page = page.trim_start_matches("./").trim_start_matches("../");
            if !files.iter().any(|file| file.ends_with(page)) {
                let file = file.display();
                faults.push(format!("{file}:{}: no page {page}", number + 1));
            }
        }
    }
}

/// Words that end as the name of a Markdown page does.
fn pages_in(comment: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-');
    let words = comment.split(move |c| !is_part(c));
    let words = words.map(|word| word.trim_end_matches('.'));
    words.filter(|word| word.ends_with(".md") && word.len() > 3)
}

/// Paths in backquotes that look like files of this repository must exist.
pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    let roots = [
        "crates/",
        "docs/",
        "bench/",
        "bindings/",
        "xtask/",
        ".ci/",
        "fuzz/",
    ];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_names_no_page_that_is_not_there() {
        let files = [PathBuf::from("docs/a.md"), PathBuf::from("README.md")];
        let faults = |text: &str| {
            let mut faults = Vec::new();
            check_comments(Path::new("x.rs"), text, &files, &mut faults);
            faults.len()
        };
        assert_eq!(
            faults("/// See `docs/a.md`, [README](../README.md). And a.md."),
            0
        );
        assert_eq!(faults("    // As MISSING.md says."), 1);
        assert_eq!(faults("let a = \"MISSING.md\";"), 0);
    }
}
