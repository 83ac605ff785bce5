// SPDX-License-Identifier: MIT OR Apache-2.0

//! Each source file begins with its sentence for `cargo xtask map`.

use std::path::Path;

use crate::map::{head, is_on_the_map};

pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    // The page of a crate can be its README.
    let has_page = text.contains("#![doc = include_str!(");
    if is_on_the_map(file) && !has_page && head(text).is_none() {
        faults.push(format!("{}: no sentence at its head", file.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_head_is_named() {
        let file = Path::new("crates/statwalk-core/src/scan.rs");
        let mut faults = Vec::new();
        check(file, "// SPDX\n\n//! A scan.\n", &mut faults);
        check(Path::new("README.md"), "# statwalk\n", &mut faults);
        assert_eq!(faults.len(), 0);
        check(file, "// SPDX\n\nuse std::fs;\n", &mut faults);
        assert_eq!(faults.len(), 1);
    }
}
