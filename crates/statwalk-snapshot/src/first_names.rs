// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names that the bytes of inodes with several names belong to.

use statwalk_format::FileType;

use crate::manifest::Links;
use crate::numbering::{NONE, Numbering};
use crate::part::{Rows, mark};

/// A name of an inode that can have others. The smallest of an inode is the first: names that
/// were reached without a link come before others, then path order decides.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Name<'a> {
    dev: u64,
    ino: u64,
    is_behind_link: bool,
    /// Of a root that is no directory.
    root: u32,
    place: (u32, u32),
    name: &'a [u8],
    row: u32,
}

/// For each row of a part, whether its bytes count.
pub(crate) fn counting(
    rows: &Rows,
    numbering: &Numbering,
    roots: &[u32],
    (links, follows): (Links, bool),
) -> Vec<bool> {
    let mut counts = vec![true; rows.len()];
    if links == Links::Each || rows.inos.is_empty() || rows.links.is_empty() {
        return counts;
    }
    let behind = if follows {
        behind_links(rows, numbering)
    } else {
        Vec::new()
    };
    let mut names = Vec::new();
    for row in 0..rows.len() {
        if !may_repeat(rows, row, follows) {
            continue;
        }
        let number = numbering.of_rows[row];
        let name = rows.name(row);
        let is_above_behind = behind.get(number as usize).copied().unwrap_or(false);
        let (root, place) = match number {
            NONE => (rows.dirs[row], (0, 0)),
            number => (roots[number as usize], numbering.place(rows, number, name)),
        };
        names.push(Name {
            dev: rows.devs[row],
            ino: rows.inos[row],
            is_behind_link: is_above_behind || (follows && rows.has(row, mark::FOLLOWED)),
            root,
            place,
            name,
            row: row as u32,
        });
    }
    names.sort_unstable();
    for pair in names.windows(2) {
        if (pair[0].dev, pair[0].ino) == (pair[1].dev, pair[1].ino) {
            counts[pair[1].row as usize] = false;
        }
    }
    counts
}

/// Whether an entry can have other names, as the engine has it.
pub(crate) fn may_repeat(rows: &Rows, row: usize, follows: bool) -> bool {
    if !rows.has(row, mark::KNOWN) || rows.kind(row) == FileType::Directory {
        return false;
    }
    match follows {
        true => !stands_for_a_directory(rows, row),
        false => rows.links[row] > 1,
    }
}

/// Whether an entry is a link to a directory that is listed elsewhere: it has no bytes.
fn stands_for_a_directory(rows: &Rows, row: usize) -> bool {
    let is_nothing = |bytes: &[u64]| bytes.get(row).is_none_or(|&bytes| bytes == 0);
    let has_bytes = !rows.sizes.is_empty() || !rows.allocated.is_empty();
    let is_empty = is_nothing(&rows.sizes) && is_nothing(&rows.allocated);
    rows.kind(row) == FileType::Symlink && has_bytes && is_empty
}

/// For each directory, whether a link was followed on the way to its entries.
pub(crate) fn behind_links(rows: &Rows, numbering: &Numbering) -> Vec<bool> {
    let mut behind = Vec::with_capacity(numbering.len());
    for number in 0..numbering.len() {
        let above = behind.get(numbering.parents[number] as usize);
        let above = above.copied().unwrap_or(false);
        let row = numbering.rows[number] as usize;
        behind.push(above || rows.has(row, mark::FOLLOWED));
    }
    behind
}
