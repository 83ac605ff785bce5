// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bytes by owner, on all threads, as with the parallel walker of ignore.

use std::collections::BTreeMap;

use statwalk_core::{Error, Fields, Scan};

fn main() -> Result<(), Error> {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let outcome = Scan::new(root).fold(
        Fields::OWNER | Fields::SIZE,
        BTreeMap::new,
        |sums: &mut BTreeMap<u32, u64>, _directory, batch| {
            for entry in batch.iter() {
                if let (Some(uid), Some(bytes)) =
                    (entry.attributes.uid(), entry.attributes.size_bytes())
                {
                    *sums.entry(uid).or_default() += bytes;
                }
            }
        },
        |mut sums, others| {
            for (uid, bytes) in others {
                *sums.entry(uid).or_default() += bytes;
            }
            sums
        },
    )?;
    for (uid, bytes) in &outcome.output {
        println!("{uid} {bytes}");
    }
    for error in &outcome.report.errors {
        eprintln!("{error}");
    }
    if !outcome.report.is_complete() {
        std::process::exit(1);
    }
    Ok(())
}
