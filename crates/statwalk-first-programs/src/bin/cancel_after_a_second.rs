// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counts for a second, and then says how far it came.

use std::time::{Duration, Instant};

use statwalk_core::{Error, Next, Scan};

fn main() -> Result<(), Error> {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let deadline = Instant::now() + Duration::from_secs(1);
    let mut count = 0;
    let mut entries = Scan::new(root).entries()?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match entries.next_within(left) {
            Next::Value(_) => count += 1,
            Next::Failed(error) => return Err(error.into()),
            Next::Waiting => break entries.cancel(),
            Next::End => break,
            _ => {}
        }
    }
    let report = entries.finish();
    println!("{count} entries, complete: {}", report.is_complete());
    for path in &report.hanging {
        println!("no answer from {}", String::from_utf8_lossy(path));
    }
    Ok(())
}
