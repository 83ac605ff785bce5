// SPDX-License-Identifier: MIT OR Apache-2.0

//! The largest files of a scan, also where no file has blocks. Only the end of the scan tells
//! which size orders them.

use statwalk_core::{Largest, Top, TopOf};
use statwalk_view::SizeColumn;

/// The largest files by the size that the user wants, and by apparent size where that is
/// another one.
pub(crate) type LargestFiles = (Top, Option<Top>);

/// The sinks of so many files.
pub(crate) fn largest_files(count: usize, column: SizeColumn) -> LargestFiles {
    let apparent = Top::new(count, Largest::Apparent);
    match column {
        SizeColumn::Apparent => (apparent, None),
        SizeColumn::Disk | SizeColumn::Inodes => {
            (Top::new(count, Largest::Allocated), Some(apparent))
        }
    }
}

/// The files in the order of their size; by apparent size where no file has blocks.
pub(crate) fn chosen(
    (files, apparent): (Vec<TopOf>, Option<Vec<TopOf>>),
    lacks_blocks: bool,
) -> Vec<TopOf> {
    match apparent {
        Some(apparent) if lacks_blocks => apparent,
        _ => files,
    }
}
