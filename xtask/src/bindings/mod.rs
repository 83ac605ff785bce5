// SPDX-License-Identifier: MIT OR Apache-2.0

//! The bindings: a workspace of their own, and the tools of other languages.
//!
//! Each language that the machine lacks is skipped, and the test command says so.

mod c;
mod docs;
mod examples;
mod java;
mod node;
mod python;
mod trees;

pub(crate) use c::{Build, install as install_c};
pub(crate) use docs::docs;
pub(crate) use python::wheel;

use crate::install::is_there;
use crate::skipped;
use crate::step::Step;

pub(crate) const MANIFEST: &str = "bindings/Cargo.toml";

/// Formatting and clippy, as for the workspace of the product.
pub(crate) fn check() -> Result<(), String> {
    // The types of the Python module need no interpreter.
    let no_python = |step: Step| step.env("PYO3_NO_PYTHON", "1");
    cargo(&["fmt", "--all"], &["--check"]).run()?;
    let clippy = ["--workspace", "--all-targets", "--", "-D", "warnings"];
    no_python(cargo(&["clippy"], &clippy)).run()?;
    no_python(cargo(&["doc"], &["--workspace", "--no-deps"]))
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()
}

/// One language that fails keeps no other from its tests.
pub(crate) fn test() -> Result<(), String> {
    trees::make()?;
    let each = [test_c, python::test, node::test, java::test, docs];
    let failed: Vec<String> = each.iter().filter_map(|test| test().err()).collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(failed.join("; ")),
    }
}

fn test_c() -> Result<(), String> {
    if !is_there("cc") || !is_there("c++") {
        skipped::suite("cc and c++", "bindings to C");
        return Ok(());
    }
    let words = [
        "--workspace",
        "--exclude=statwalk-python",
        "--exclude=statwalk-node",
        "--no-fail-fast",
        "--",
        "--show-output",
    ];
    cargo(&["test"], &words).run_and_note_skipped()?;
    c::test_installed()?;
    examples::test()
}

/// A call of cargo in the workspace of the bindings.
fn cargo(task: &[&str], more: &[&str]) -> Step {
    let manifest = ["--manifest-path", MANIFEST];
    Step::cargo(&[task, &manifest, more].concat())
}
