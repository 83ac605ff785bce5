// SPDX-License-Identifier: MIT OR Apache-2.0

//! The map of the engine: ARCHITECTURE.md has a word for each of its files.

use std::path::{Path, PathBuf};

const MAP: &str = "ARCHITECTURE.md";
const ENGINE: &str = "crates/statwalk-core/src";
/// The heading of the engine in the map.
const HEADING: &str = "\n### `crates/statwalk-core`";

/// Files whose folder stands for them.
const WITHOUT_A_WORD: [&str; 3] = ["lib.rs", "mod.rs", "tests.rs"];

pub(super) fn check(files: &[PathBuf], map: &str, faults: &mut Vec<String>) {
    let Some(engine) = engine_of(map) else {
        return faults.push(format!("{MAP}: no heading {}", HEADING.trim()));
    };
    let missing = files.iter().filter_map(|file| missing_word(file, engine));
    faults.extend(missing.map(|word| format!("{MAP}: the map has no `{word}` of {ENGINE}")));
}

fn engine_of(map: &str) -> Option<&str> {
    let begin = map.find(HEADING)? + HEADING.len();
    let length = map[begin..].find("\n### ").unwrap_or(map.len() - begin);
    Some(&map[begin..begin + length])
}

/// The name that the map lacks: of a file, or of a folder for its `mod.rs`.
fn missing_word(file: &Path, engine: &str) -> Option<String> {
    let below = file.strip_prefix(ENGINE).ok()?;
    let mut folders: Vec<&str> = below.iter().filter_map(|name| name.to_str()).collect();
    let name = folders.pop()?;
    if !name.ends_with(".rs") || folders.contains(&"tests") {
        return None;
    }
    let word = match WITHOUT_A_WORD.contains(&name) {
        true => *folders.last()?,
        false => name,
    };
    let is_there = [
        format!("`{word}`"),
        format!("/{word}`"),
        format!("`{word}/"),
    ];
    let is_there = is_there.iter().any(|word| engine.contains(word));
    (!is_there).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_the_engine_needs_its_word() {
        let map = "# A\n### `crates/statwalk-core` (API)\n| `a.rs`, `order/b.rs` | `tree` |\n\
                   ### `crates/x`\n`c.rs`\n";
        let faults = |file: &str| {
            let mut faults = Vec::new();
            check(&[PathBuf::from(ENGINE).join(file)], map, &mut faults);
            faults.len()
        };
        for file in [
            "a.rs",
            "order/b.rs",
            "tree/mod.rs",
            "tree/tests.rs",
            "lib.rs",
        ] {
            assert_eq!(faults(file), 0, "{file}");
        }
        // Another crate's word is none of the engine.
        for file in ["c.rs", "order/d.rs", "forest/mod.rs"] {
            assert_eq!(faults(file), 1, "{file}");
        }
        assert_eq!(faults("tree/tests/real.rs"), 0);
        let mut none = Vec::new();
        check(&[], "no heading", &mut none);
        assert_eq!(none.len(), 1);
    }
}
