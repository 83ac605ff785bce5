// SPDX-License-Identifier: MIT OR Apache-2.0

//! The lines of the product by crate: without tests, the testkit and generated files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::tidy::tracked_files;

/// Sources of the product, by the ends of their names. `txt` only in `src`: tables of data.
const SOURCES: [&str; 9] = ["rs", "ts", "css", "py", "pyi", "js", "java", "hpp", "txt"];

/// Parts of paths that are no product. Only tests compile the first three.
const OTHERS: [&str; 12] = [
    "simulation",
    "printed_twice.rs",
    "trial.rs",
    "tests",
    "test",
    "tests.rs",
    "examples",
    "dist",
    "statwalk-testkit",
    "statwalk-first-programs",
    "fuzz",
    "node_modules",
];

/// Prints the lines of each crate and binding, of the files here or of a commit.
pub(crate) fn print(commit: Option<&str>) -> Result<(), String> {
    let files = match commit {
        None => (tracked_files()?.iter())
            .map(|file| file.to_string_lossy().into_owned())
            .collect(),
        Some(commit) => {
            let list = git(&["ls-tree", "-r", "--name-only", commit])?;
            list.lines().map(str::to_owned).collect::<Vec<_>>()
        }
    };
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| is_product(file)) {
        let text = match commit {
            None => fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?,
            Some(commit) => git(&["show", &format!("{commit}:{file}")])?,
        };
        *lines.entry(part_of(file)).or_default() += count(&text);
    }
    for (part, lines) in &lines {
        println!("{lines:>7}  {part}");
    }
    println!("{:>7}  in all", lines.values().sum::<usize>());
    Ok(())
}

fn is_product(file: &str) -> bool {
    let path = Path::new(file);
    let is_source = path
        .extension()
        .is_some_and(|end| SOURCES.iter().any(|&source| end == source));
    let has_root = file.starts_with("crates/") || file.starts_with("bindings/");
    let is_test = file.ends_with("_tests.rs") || file.ends_with(".test.ts");
    let is_other = path
        .iter()
        .any(|part| OTHERS.iter().any(|&other| part == other));
    let is_document = file.ends_with(".txt") && !path.iter().any(|part| part == "src");
    is_source && has_root && !is_test && !is_other && !is_document
}

/// The folder of a crate or of a binding; the page of reports is a part of its own.
fn part_of(file: &str) -> String {
    let folders = if file.contains("/viewer/") { 3 } else { 2 };
    file.splitn(folders + 1, '/')
        .take(folders)
        .collect::<Vec<_>>()
        .join("/")
}

/// All lines but those of a module of tests at the end of a file.
fn count(text: &str) -> usize {
    let product = text.lines().take_while(|line| *line != "#[cfg(test)]");
    let before = product.count();
    let tests = text.lines().skip(before + 1);
    match tests.into_iter().next() {
        // A module in a file of its own; the rest of this one is product.
        Some(line) if line.ends_with(';') => text.lines().count() - 2,
        Some(line) if line.starts_with("mod ") || line.starts_with("pub(crate) mod ") => before,
        _ => text.lines().count(),
    }
}

fn git(words: &[&str]) -> Result<String, String> {
    let failed = |why: String| format!("git {}: {why}", words.join(" "));
    let done = Command::new("git").args(words).output();
    let done = done.map_err(|error| failed(error.to_string()))?;
    match done.status.success() {
        true => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        false => Err(failed(
            String::from_utf8_lossy(&done.stderr).trim().to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_do_not_count() {
        assert_eq!(count("a\nb\n"), 2);
        assert_eq!(count("a\n\n#[cfg(test)]\nmod tests {\n    x\n}\n"), 2);
        assert_eq!(count("a\n#[cfg(test)]\nmod tests;\nb\n"), 2);
        assert_eq!(count("a\n#[cfg(test)]\nfn step() {}\nb\n"), 4);
        assert!(is_product("crates/statwalk-core/src/scan.rs"));
        assert!(is_product("bindings/node/index.d.ts"));
        assert!(is_product("crates/statwalk-view/src/rebuildable/rules.txt"));
        for file in [
            "crates/statwalk-core/src/simulation/world.rs",
            "crates/statwalk-core/tests/engine/rows.rs",
            "crates/statwalk-testkit/src/model.rs",
            "crates/statwalk-report/viewer/dist/viewer.js",
            "crates/statwalk-browse/src/browser_tests.rs",
            "crates/statwalk-browse/sessions/everyday.80x24.txt",
            "bindings/python/tests/test_scan.py",
            "xtask/src/main.rs",
        ] {
            assert!(!is_product(file), "{file}");
        }
        assert_eq!(
            part_of("crates/statwalk-report/viewer/src/map.ts"),
            "crates/statwalk-report/viewer"
        );
        assert_eq!(part_of("bindings/node/index.js"), "bindings/node");
    }
}
