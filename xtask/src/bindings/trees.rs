// SPDX-License-Identifier: MIT OR Apache-2.0

//! The named and random trees on which each language is compared with its own walker.

use super::cargo;
use crate::step::Step;

/// The tests of the languages look here.
const FOLDER: &str = "bindings/target/trees";

/// Makes them anew: a test that failed may have left something in them.
pub(super) fn make() -> Result<(), String> {
    // Some of them are closed to their owner, and deeper than a path can be long.
    Step::shell(&format!("chmod -fR u+rwx {FOLDER}; rm -rf {FOLDER}")).run()?;
    let example = [
        "-p",
        "statwalk-stream",
        "--example",
        "make_trees",
        "--",
        FOLDER,
    ];
    cargo(&["run", "-q"], &example).run()
}
