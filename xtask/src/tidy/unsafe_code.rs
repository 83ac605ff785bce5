// SPDX-License-Identifier: MIT OR Apache-2.0

//! The places of the bindings that may have `unsafe` code.
//!
//! In the workspace of the product a lint denies it. The workspace of the bindings cannot:
//! what borders on another language needs it.

use std::path::Path;

/// Borders to other languages.
const BORDERS: [&str; 2] = ["bindings/c", "bindings/stream/src/arrow/stream.rs"];

pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    let is_rust = file.extension().is_some_and(|extension| extension == "rs");
    let is_border = BORDERS.iter().any(|border| file.starts_with(border));
    if !is_rust || !file.starts_with("bindings") || is_border {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        let is_comment = line.trim_start().starts_with("//");
        let has_it = ["unsafe ", "unsafe{", "unsafe("]
            .iter()
            .any(|word| line.contains(word));
        if has_it && !is_comment {
            let place = format!("{}:{}", file.display(), number + 1);
            faults.push(format!(
                "{place}: unsafe code outside of {}",
                BORDERS.join(", ")
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_borders_have_unsafe_code() {
        let faults = |file: &str, text: &str| {
            let mut faults = Vec::new();
            check(Path::new(file), text, &mut faults);
            faults.len()
        };
        let line = "    unsafe { call() }\n";
        assert_eq!(faults("bindings/stream/src/walk.rs", line), 1);
        assert_eq!(faults("bindings/stream/src/arrow/table.rs", line), 1);
        assert_eq!(faults("bindings/c/src/walk.rs", line), 0);
        assert_eq!(faults("bindings/stream/src/arrow/stream.rs", line), 0);
        assert_eq!(
            faults("bindings/stream/src/walk.rs", "// no unsafe code\n"),
            0
        );
    }
}
