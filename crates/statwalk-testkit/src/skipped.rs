// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reports that a test could not run, and its unmet need.
//!
//! A test is never ignored silently: it runs, finds its unmet need, prints
//! `skipped: needs …` past the capture of the test harness, and passes. With
//! `STATWALK_SKIPPING_FAILS=1` it fails instead, for machines that are meant to
//! have everything. With `STATWALK_QUICK=1` nothing is mounted: those tests need the whole
//! test command.

use std::io::Write;

/// The reason why a set-up is impossible on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    needs: String,
}

impl Skipped {
    /// The reason, as the end of the sentence "needs …": `root`, `mkfs.xfs`.
    pub fn needs(what: impl Into<String>) -> Skipped {
        Skipped { needs: what.into() }
    }

    /// The reason why nothing is mounted now, where this is a quick run.
    pub(crate) fn in_a_quick_run() -> Result<(), Skipped> {
        match std::env::var_os("STATWALK_QUICK") {
            None => Ok(()),
            Some(_) => Err(Skipped::needs("the whole test command")),
        }
    }

    /// Prints the reason on stderr, with the name of the test.
    ///
    /// # Panics
    ///
    /// If `STATWALK_SKIPPING_FAILS` is set.
    pub fn report(&self) {
        assert!(
            std::env::var_os("STATWALK_SKIPPING_FAILS").is_none(),
            "{self}"
        );
        let thread = std::thread::current();
        note(&format!(
            "{self} ({})",
            thread.name().unwrap_or("a thread without a name")
        ));
    }
}

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "skipped: needs {}", self.needs)
    }
}

/// Unwraps a `Result<_, Skipped>`; otherwise reports why and returns from the test.
///
/// # Examples
///
/// ```
/// use statwalk_testkit::{Scratch, mounts, or_skip};
///
/// # fn main() {
/// let scratch = Scratch::new().expect("a temporary directory");
/// let tmpfs = or_skip!(mounts::FileSystem::Tmpfs.mount(scratch.path()));
/// assert_eq!(tmpfs.path(), scratch.path());
/// # }
/// ```
#[macro_export]
macro_rules! or_skip {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(skipped) => {
                $crate::Skipped::report(&skipped);
                return;
            }
        }
    };
}

/// Prints a line that the test harness does not swallow.
pub(crate) fn note(line: &str) {
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_it_needs() {
        assert_eq!(
            Skipped::needs("mkfs.xfs").to_string(),
            "skipped: needs mkfs.xfs"
        );
    }

    #[test]
    fn or_skip_returns_from_the_test() {
        fn test_body(result: Result<u32, Skipped>, reached: &mut u32) {
            *reached = or_skip!(result);
        }
        let mut reached = 0;
        test_body(Ok(7), &mut reached);
        assert_eq!(reached, 7);
    }
}
