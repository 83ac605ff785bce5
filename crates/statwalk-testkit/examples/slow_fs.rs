// SPDX-License-Identifier: MIT OR Apache-2.0

//! Mounts a file system on which every call takes its time, until its standard
//! input ends, for measurements by other programs.
//!
//! ```text
//! slow_fs LEAST_MS MOST_MS DEPTH DIRS_EACH FILES_EACH [untyped]
//! ```
//!
//! With `untyped`, its listings have no types.
//!
//! Prints, each on a line: where it is, the entries, the bytes on disk.

#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::io::Read;
use std::time::Duration;

use statwalk_testkit::fault_fs::{FaultFs, Latency, Uniform, Where};

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let is_untyped = words.pop_if(|word| word == "untyped").is_some();
    let numbers: Vec<u32> = words
        .iter()
        .map(|word| word.parse().expect("a number"))
        .collect();
    let &[least, most, depth, dirs_each, files_each] = numbers.as_slice() else {
        panic!("usage: slow_fs LEAST_MS MOST_MS DEPTH DIRS_EACH FILES_EACH [untyped]");
    };
    let latency = Latency::Between {
        least: Duration::from_millis(least.into()),
        most: Duration::from_millis(most.into()),
        seed: 1,
    };
    let shape = Uniform {
        depth,
        dirs_each,
        files_each: files_each.into(),
        file_size_bytes: 4096,
    };
    let mut fs = FaultFs::builder()
        .uniform("tree", shape)
        .latency(Where::Everywhere, latency);
    if is_untyped {
        fs = fs.unknown_types(Where::Everywhere);
    }
    let (entries, bytes) = (fs.expected().entries, fs.expected_allocated_bytes());
    match fs.mount() {
        Ok(mount) => {
            println!("{}\n{entries}\n{bytes}", mount.path().display());
            // Whoever started it ends it.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            let counts = mount.counts();
            let calls = counts.lookup + counts.getattr + counts.opendir + counts.readdir;
            println!("{calls}");
        }
        Err(skipped) => {
            skipped.report();
            std::process::exit(1);
        }
    }
}
