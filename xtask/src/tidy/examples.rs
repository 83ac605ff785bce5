// SPDX-License-Identifier: MIT OR Apache-2.0

//! An example that scans looks at the report: readers copy it, and would drop what a scan
//! could not read.

use std::path::Path;

/// The calls that begin a scan.
const SCANS: [&str; 7] = [
    ".run(",
    ".run_in_memory(",
    ".start(",
    ".entries()?",
    ".rows()?",
    ".fold(",
    ".gather(",
];

/// Programs for readers are one example each.
const PROGRAMS: [&str; 2] = [
    "crates/statwalk-first-programs/src/bin",
    "crates/statwalk-core/examples",
];

pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    let is = |extension: &str| file.extension().is_some_and(|found| found == extension);
    if PROGRAMS.iter().any(|folder| file.starts_with(folder)) {
        if drops_errors(text) {
            faults.push(fault(file, 1));
        }
        return;
    }
    let is_source = is("rs") && file.starts_with("crates/statwalk-core/src");
    let is_page = is("md") && (file.starts_with("crates") || file == Path::new("README.md"));
    if !is_source && !is_page {
        return;
    }
    let mut example: Option<(usize, String)> = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let line = match is_source {
            true => match line
                .strip_prefix("///")
                .or_else(|| line.strip_prefix("//!"))
            {
                Some(line) => line.trim_start(),
                None => continue,
            },
            false => line,
        };
        match (line.starts_with("```"), &mut example) {
            (true, None) => example = Some((number + 1, String::new())),
            (true, Some((begin, code))) => {
                if drops_errors(code) {
                    faults.push(fault(file, *begin));
                }
                example = None;
            }
            (false, Some((_, code))) => {
                code.push_str(line);
                code.push('\n');
            }
            (false, None) => {}
        }
    }
}

/// Whether code scans and never looks at the report. A scan that it breaks off is
/// incomplete by its own wish.
fn drops_errors(code: &str) -> bool {
    let scans = code.contains("Scan::new(") && SCANS.iter().any(|call| code.contains(call));
    scans && !code.contains("is_complete()") && !code.contains("break;")
}

fn fault(file: &Path, line: usize) -> String {
    format!(
        "{}:{line}: the example never asks whether its scan `is_complete()`",
        file.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(file: &str, text: &str) -> usize {
        let mut faults = Vec::new();
        check(Path::new(file), text, &mut faults);
        faults.len()
    }

    const SCAN: &str = "let outcome = Scan::new(\".\").run(&Totals::new())?;";
    const LOOK: &str = "assert!(outcome.report.is_complete());";

    #[test]
    fn an_example_ends_with_a_look_at_the_report() {
        for (file, before) in [
            ("crates/statwalk-core/src/scan.rs", "    /// "),
            ("crates/statwalk-core/src/lib.rs", "//! "),
            ("README.md", ""),
        ] {
            let example = |lines: &str| format!("{before}```\n{lines}{before}```\n");
            let scan = format!("{before}{SCAN}\n");
            let look = format!("{before}{LOOK}\n");
            assert_eq!(faults(file, &example(&scan)), 1, "{file}");
            assert_eq!(faults(file, &example(&(scan.clone() + &look))), 0, "{file}");
            // Each example for itself.
            let two = example(&scan) + &example(&look);
            assert_eq!(faults(file, &two), 1, "{file}");
        }
    }

    #[test]
    fn code_outside_of_examples_is_free_and_programs_are_not() {
        assert_eq!(faults("crates/statwalk-core/src/scan.rs", SCAN), 0);
        assert_eq!(faults("crates/statwalk/src/main.rs", SCAN), 0);
        let program = "crates/statwalk-first-programs/src/bin/a.rs";
        assert_eq!(faults(program, SCAN), 1);
        assert_eq!(faults(program, &format!("{SCAN}\n{LOOK}")), 0);
    }
}
