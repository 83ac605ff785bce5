// SPDX-License-Identifier: MIT OR Apache-2.0

//! The map of the code: each source file with the first sentence of its head.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tidy::tracked_files;

/// The parts of the map. Tests, examples and tools are not in it.
const ROOTS: [&str; 3] = ["crates", "bindings", "xtask"];

/// Prints the files below a folder or of a name, or all.
pub(crate) fn print(wanted: Option<&str>) -> Result<(), String> {
    let files = tracked_files()?;
    let mut shown = 0;
    let mut folder = PathBuf::new();
    for file in files.iter().filter(|file| is_on_the_map(file)) {
        if wanted.is_some_and(|wanted| !file.to_string_lossy().contains(wanted)) {
            continue;
        }
        let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let own = file.parent().unwrap_or(Path::new(""));
        if own != folder {
            println!("\n{}", own.display());
            folder = own.to_owned();
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        println!("  {name:<24} {}", head(&text).unwrap_or_default());
        shown += 1;
    }
    match shown {
        0 => Err("map: no file has this in its path".to_owned()),
        _ => Ok(()),
    }
}

/// Whether it is a source file of a product or of a tool.
pub(crate) fn is_on_the_map(file: &Path) -> bool {
    let is_source =
        (file.extension()).is_some_and(|kind| ["rs", "ts"].contains(&&*kind.to_string_lossy()));
    let mut folders = file.iter().map(|name| name.to_string_lossy());
    let has_root = folders.next().is_some_and(|root| ROOTS.contains(&&*root));
    is_source
        && has_root
        && folders.any(|name| name == "src")
        && !file.ends_with("tests.rs")
        && file.iter().all(|name| name != "tests")
}

/// The first sentence of the head of a file.
pub(crate) fn head(text: &str) -> Option<String> {
    let lines = text
        .lines()
        .skip_while(|line| line.is_empty() || line.contains("SPDX"));
    let head = lines.map_while(|line| line.strip_prefix("//!").or(line.strip_prefix("//")));
    let words: Vec<&str> = head
        .take_while(|line| !line.is_empty())
        .map(str::trim)
        .collect();
    let words = words.join(" ");
    let end = words.find(". ").map_or(words.len(), |end| end + 1);
    (!words.is_empty()).then(|| words[..end].trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_file_is_its_first_sentence() {
        let text = "// SPDX-License-Identifier: MIT\n\n//! One thing,\n//! in two lines. More.\n//!\n//! Else.";
        assert_eq!(head(text).as_deref(), Some("One thing, in two lines"));
        assert_eq!(
            head("// SPDX\n\n// A part of the page\n\nimport").as_deref(),
            Some("A part of the page")
        );
        assert_eq!(head("// SPDX\n\nuse std::fs;\n"), None);
    }

    #[test]
    fn tests_are_not_on_the_map() {
        for (file, is_on_it) in [
            ("crates/statwalk-core/src/scan.rs", true),
            ("crates/statwalk-report/viewer/src/map.ts", true),
            ("crates/statwalk-core/tests/engine/rows.rs", false),
            ("crates/statwalk-core/src/source/tests/mod.rs", false),
            ("crates/statwalk-core/src/sink/tests.rs", false),
            ("bench/engines/statwalk/src/main.rs", false),
        ] {
            assert_eq!(is_on_the_map(Path::new(file)), is_on_it, "{file}");
        }
    }
}
