// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lists an image with sizes: `cargo run -p statwalk-ext4 --example list -- IMAGE`.
//! It reads the whole image into memory, and ends at the first damage.

use std::collections::HashSet;
use std::error::Error;
use std::io::Write;

use statwalk_ext4::{DirectoryScratch, FileType, ROOT_INODE, Volume};

fn main() -> Result<(), Box<dyn Error>> {
    let image = std::env::args_os().nth(1).ok_or("usage: list IMAGE")?;
    list(&std::fs::read(image)?, &mut std::io::stdout().lock())
}

pub(crate) fn list(image: &[u8], out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let volume = Volume::open(image)?;
    let mut scratch = DirectoryScratch::new();
    // In a damaged image a directory can be its own descendant.
    let mut seen = HashSet::from([ROOT_INODE]);
    let mut waiting = vec![(ROOT_INODE, String::new())];
    while let Some((number, path)) = waiting.pop() {
        let mut entries = Vec::new();
        let directory = volume.inode(number)?;
        volume.read_directory_and_inodes(&directory, &mut scratch, |entry, inode| {
            let path = format!("{path}/{}", entry.name.escape_ascii());
            entries.push((path, inode.cloned()));
        })?;
        for (path, inode) in entries {
            let inode = inode?;
            writeln!(out, "{:>12} {path}", inode.size_bytes())?;
            if inode.kind() == FileType::Directory && seen.insert(inode.number()) {
                waiting.push((inode.number(), path));
            }
        }
    }
    Ok(())
}
