// SPDX-License-Identifier: MIT OR Apache-2.0

//! All rows, with anyhow.

use anyhow::{Context, Result, ensure};
use statwalk_core::{Fields, Scan};

fn main() -> Result<()> {
    let root = std::env::args_os().nth(1).context("usage: rows PATH")?;
    let mut entries = Scan::new(root).fields(Fields::SIZE).entries()?;
    let mut rows = Vec::new();
    for entry in &mut entries {
        let entry = entry.context("cannot list the tree")?;
        let bytes = entry.size_bytes().context("an entry without a size")?;
        rows.push((entry.to_path_buf(), bytes));
    }
    rows.sort();
    for (path, bytes) in rows {
        println!("{bytes} {}", path.display());
    }
    ensure!(entries.finish().is_complete(), "some entries are missing");
    Ok(())
}
