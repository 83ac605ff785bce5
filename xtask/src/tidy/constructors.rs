// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sinks are made in one way: `new` takes what each needs, and `with_…` and `without_…`
//! change an option.
//!
//! `with_sizes` made one sink and changed another, so a reader looked each of them up.
//! That a `new` without arguments has a `Default` beside it, clippy checks.

use std::path::Path;

/// A file that defines a sink has its constructors, too.
pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    if !file.starts_with("crates/statwalk-core/src") {
        return;
    }
    for name in text.lines().filter_map(sink) {
        if !text.lines().any(|line| defines(line, name)) {
            continue;
        }
        let makers = makers(text, name);
        if !makers.contains(&"new") {
            faults.push(format!("{}: the sink {name} has no `new`", file.display()));
        }
        let is_other = |maker: &&&str| {
            **maker != "new" && !maker.starts_with("with_") && !maker.starts_with("without_")
        };
        for maker in makers.iter().filter(is_other) {
            faults.push(format!(
                "{}: {name}::{maker} is none of `new`, `with_…`, `without_…`",
                file.display()
            ));
        }
    }
}

/// The type that a line makes a sink.
fn sink(line: &str) -> Option<&str> {
    let name = line.strip_prefix("impl Sink for ")?.strip_suffix(" {")?;
    name.chars().all(char::is_alphanumeric).then_some(name)
}

/// Whether a line defines the type for other crates.
fn defines(line: &str, name: &str) -> bool {
    let rest = line.strip_prefix("pub struct ");
    let rest = rest.and_then(|rest| rest.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with([' ', ';', '(']))
}

/// The public functions in the blocks of a type that give a value of it.
fn makers<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let head = format!("\nimpl {name} {{\n");
    let blocks = text.split(&head).skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("\n}\n").next());
    let functions = blocks.flat_map(|block| block.split("    pub fn ").skip(1));
    let maker = |function: &'a str| {
        let signature = function.split(" {\n").next()?;
        let (_, given) = signature.rsplit_once("-> ")?;
        let maker = function.split(['(', '<']).next();
        maker.filter(|_| given == name || given == "Self")
    };
    functions.filter_map(maker).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "crates/statwalk-core/src/sink/top.rs";
    const HEAD: &str = "pub struct Top {\n\nimpl Sink for Top {\n}\n";

    fn faults(file: &str, text: &str) -> Vec<String> {
        let mut faults = Vec::new();
        check(Path::new(file), text, &mut faults);
        faults
    }

    #[test]
    fn new_and_options_are_the_scheme() {
        let functions = [
            "    pub fn new(count: usize) -> Top {\n    }\n",
            "    pub fn with_filter(\n        self,\n        test: impl Fn() -> bool,\n    ) -> Top {\n    }\n",
            "    pub fn without_sizes(self) -> Self {\n    }\n",
            "    pub fn count(&self) -> usize {\n    }\n",
        ];
        let text = format!("{HEAD}\nimpl Top {{\n{}}}\n", functions.concat());
        assert_eq!(faults(FILE, &text), [""; 0]);
    }

    #[test]
    fn another_constructor_or_option_is_a_fault() {
        let new = "    pub fn new() -> Top {\n    }\n";
        for other in [
            "of_counts() -> Top",
            "newest(self) -> Self",
            "by<T>(of: T) -> Top",
        ] {
            let text = format!("{HEAD}\nimpl Top {{\n{new}    pub fn {other} {{\n    }}\n}}\n");
            assert_eq!(faults(FILE, &text).len(), 1, "{other}");
            assert!(faults("crates/statwalk-view/src/top.rs", &text).is_empty());
        }
        assert_eq!(faults(FILE, HEAD).len(), 1);
        assert!(faults(FILE, &HEAD.replace("pub struct", "struct")).is_empty());
    }
}
