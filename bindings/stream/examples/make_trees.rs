// SPDX-License-Identifier: MIT OR Apache-2.0

//! Makes all named trees and some random ones in a folder: for the tests of languages that
//! cannot make them, and compare with their own walker. `make_trees FOLDER`.

use std::error::Error;
use std::path::PathBuf;

use statwalk_testkit::{strategy, trees};

/// How many random trees.
const RANDOM: u64 = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("name a folder")?;
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    for (name, model) in trees::named() {
        model.materialise(&folder.join(name))?;
    }
    for seed in 0..RANDOM {
        let model = strategy::of_seed(&strategy::model(), seed);
        model.materialise(&folder.join(format!("random-{seed}")))?;
    }
    Ok(())
}
