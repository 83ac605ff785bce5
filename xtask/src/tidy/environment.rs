// SPDX-License-Identifier: MIT OR Apache-2.0

//! Environment variables: the program alone reads them, and both pages name each.

use std::path::Path;

const PROGRAM: &str = "crates/statwalk/src";
const PAGE: &str = "docs/platform.md";
const MANUAL: &str = "crates/statwalk/src/commands/man.rs";

/// Libraries that read a variable, with the reason.
const EXCEPTIONS: [(&str, &str); 2] = [
    (
        "crates/statwalk-core/src/simulation/mod.rs",
        "seeds of the simulation, which exists in tests alone",
    ),
    (
        "crates/statwalk-sys/src/device_map/tests.rs",
        "the part of a child of the test",
    ),
];

pub(super) fn check(file: &Path, text: &str, pages: [&str; 2], faults: &mut Vec<String>) {
    let is_source = file.extension().is_some_and(|extension| extension == "rs")
        && file.starts_with("crates")
        && !file.starts_with("crates/statwalk-testkit")
        && file.iter().nth(2).is_some_and(|part| part == "src");
    let own = without_tests(text);
    let is_test = text.contains("\n#![cfg(test)]\n");
    if !is_source || is_test || !own.contains("env::var") {
        return;
    }
    if !file.starts_with(PROGRAM) {
        if !EXCEPTIONS.iter().any(|(path, _)| file == Path::new(path)) {
            faults.push(format!(
                "{}: a library reads the environment",
                file.display()
            ));
        }
        return;
    }
    for name in variables(own) {
        for (page, text) in [PAGE, MANUAL].into_iter().zip(pages) {
            if !has_word(text, name) {
                faults.push(format!("{page}: no {name}, which {} reads", file.display()));
            }
        }
    }
}

pub(super) const PAGES: [&str; 2] = [PAGE, MANUAL];

fn without_tests(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or(text)
}

/// The literals that look like the name of a variable.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let quoted = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    quoted.filter(|word| {
        let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        word.len() > 1 && word.bytes().all(is_name) && word.as_bytes()[0].is_ascii_uppercase()
    })
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !is_part(c)).any(|found| found == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_stands_on_both_pages() {
        let faults = |file: &str, text: &str, pages: [&str; 2]| {
            let mut faults = Vec::new();
            check(Path::new(file), text, pages, &mut faults);
            faults.len()
        };
        let reads = "env::var_os(\"A_HOME\");\n";
        let program = "crates/statwalk/src/a.rs";
        assert_eq!(faults(program, reads, ["`A_HOME`", "A_HOME, B"]), 0);
        assert_eq!(faults(program, reads, ["`A_HOME`", "XA_HOME"]), 1);
        assert_eq!(faults(program, reads, ["", ""]), 2);
        // A comment and a test read nothing.
        let silent = "// env::var(\"B\")\n#[cfg(test)]\nmod tests { env::var(\"C\") }";
        assert_eq!(faults(program, silent, ["", ""]), 0);
        let of_tests = "//! Trials.\n\n#![cfg(test)]\n\nenv::var(\"D\")";
        assert_eq!(faults(program, of_tests, ["", ""]), 0);
        let library = "crates/statwalk-view/src/a.rs";
        assert_eq!(faults(library, reads, ["A_HOME", "A_HOME"]), 1);
        assert_eq!(faults(EXCEPTIONS[0].0, reads, ["", ""]), 0);
    }
}
