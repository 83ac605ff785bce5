// SPDX-License-Identifier: MIT OR Apache-2.0

//! Shows a directory of a snapshot, the largest entries first: `show FOLDER PATH`.

#![allow(clippy::print_stdout, reason = "a program may print")]

use std::error::Error;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use statwalk_snapshot::{Found, Snapshot};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let [Some(folder), Some(path)] = std::array::from_fn(|_| arguments.next()) else {
        return Err("usage: show FOLDER PATH".into());
    };
    let snapshot = Snapshot::open(Path::new(&folder))?;
    let Some(Found::Dir(dir)) = snapshot.find(path.as_bytes())? else {
        return Err("the snapshot has no such directory".into());
    };
    let mut rows = Vec::new();
    for entry in snapshot.children(&dir)? {
        let own = u128::from(entry.allocated_bytes.unwrap_or(0));
        let below = entry.sums.map_or(0, |sums| sums.allocated_bytes);
        rows.push((own + below, entry.name));
    }
    rows.sort_by_key(|&(bytes, _)| std::cmp::Reverse(bytes));
    for (bytes, name) in rows.iter().take(20) {
        println!("{bytes:>16} {}", name.escape_ascii());
    }
    Ok(())
}
