// SPDX-License-Identifier: MIT OR Apache-2.0

//! Public types that are named and shown as errors are errors of `std`.
//!
//! Otherwise `?` does not take them to a caller, who then drops them.

use std::path::Path;

const ENDINGS: [&str; 5] = ["Error", "Cause", "Refusal", "Errno", "NotInPlace"];

/// `Display` and `Error` stand in the file that defines the type.
pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    let is_source = file.extension().is_some_and(|extension| extension == "rs");
    let is_product = file.starts_with("crates") && !file.starts_with("crates/statwalk-testkit");
    if !is_source || !is_product {
        return;
    }
    for name in text.lines().filter_map(public_type) {
        let is_named_so = ENDINGS.iter().any(|ending| name.ends_with(ending));
        if is_named_so && implements(text, "Display", name) && !implements(text, "Error", name) {
            faults.push(format!(
                "{}: {name} has Display and is no std::error::Error",
                file.display()
            ));
        }
    }
}

/// The name of a type that a line defines for other crates.
fn public_type(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ")?;
    let rest = (line.strip_prefix("struct ")).or_else(|| line.strip_prefix("enum "))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
}

fn implements(text: &str, of: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let Some((head, rest)) = line.split_once(" for ") else {
            return false;
        };
        let of = head.starts_with("impl") && head.ends_with(of);
        let rest = rest.strip_prefix(name);
        of && rest.is_some_and(|rest| rest.starts_with([' ', '<', '{']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISPLAY: &str = "impl fmt::Display for Cause {\n";
    const ERROR: &str = "impl std::error::Error for Cause {}\n";

    fn faults(file: &str, text: &str) -> usize {
        let mut faults = Vec::new();
        check(Path::new(file), text, &mut faults);
        faults.len()
    }

    #[test]
    fn a_cause_with_words_is_an_error() {
        let file = "crates/statwalk-core/src/error.rs";
        for definition in ["pub enum Cause {\n", "pub struct Cause(i32);\n"] {
            assert_eq!(faults(file, &format!("{definition}{DISPLAY}")), 1);
            assert_eq!(faults(file, &format!("{definition}{DISPLAY}{ERROR}")), 0);
            assert_eq!(faults(file, definition), 0);
        }
    }

    #[test]
    fn other_types_and_places_are_free() {
        let file = "crates/statwalk-core/src/error.rs";
        let inside = format!("pub(crate) enum Cause {{\n{DISPLAY}");
        assert_eq!(faults(file, &inside), 0);
        let other = format!("pub enum Causes {{\n{}", DISPLAY.replace("Cause", "Causes"));
        assert_eq!(faults(file, &other), 0);
        let longer = format!(
            "pub enum Cause {{\n{DISPLAY}{}",
            ERROR.replace("Cause", "CauseOf")
        );
        assert_eq!(faults(file, &longer), 1);
        let open = format!("pub enum Cause {{\n{DISPLAY}");
        assert_eq!(faults("crates/statwalk-testkit/src/a.rs", &open), 0);
        assert_eq!(faults("xtask/src/a.rs", &open), 0);
    }
}
