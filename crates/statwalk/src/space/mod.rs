// SPDX-License-Identifier: MIT OR Apache-2.0

//! The used space of a file system, explained by a scan of it.

mod explained;
mod source;

use std::path::{Path, PathBuf};

use statwalk_space::MountTable;
use statwalk_view::{SizeFormat, Terminal};

pub(crate) use self::explained::{Explained, explain};
use self::source::Quiet;
pub(crate) use self::source::Watched;
use crate::failure::Failure;
use crate::flags::When;
use crate::request::{Form, Request, RowEnd};
use crate::system::file_systems::file_system_of;

/// The number of files without a name and of hidden directories, unless the user sets one.
pub(crate) const DETAILS_DEFAULT: usize = 5;

/// The table for the file system of a directory, for the browser. It shows nothing while
/// it scans, and ends where `stop` asks for it.
pub(crate) fn table_of(
    directory: &Path,
    format: SizeFormat,
    terminal: Terminal,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<String>, Failure> {
    let file_system = file_system_of(directory, &mut MountTable::default())?;
    let points = file_system.shown().map(PathBuf::from).collect();
    let form = Form::Rows(RowEnd::Newline);
    let request = Request::of_scan(file_system.scan(), points, form, When::Never);
    let explained = explain(file_system, request, &Quiet(stop))?;
    // The box of the browser scrolls.
    Ok(explained
        .table(format, DETAILS_DEFAULT)
        .lines(usize::MAX, terminal))
}
