// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk snapshot`: stores a scan, lists what is stored, and verifies it.

mod check;
mod list;
mod machine;
mod write;

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use statwalk_view::{Charset, escape};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::SnapshotFlags;
use crate::request::scan_flags::first_of_scan;
use crate::store::disk::Store;
use crate::stored::failure;
use crate::system::places;

pub(super) fn run(flags: SnapshotFlags) -> Result<ExitStatus, Failure> {
    if flags.list {
        refuse_scan_flags(&flags, "--list")?;
        return list::run(&flags);
    }
    if flags.check {
        refuse_scan_flags(&flags, "--check")?;
        return check::run(&flags);
    }
    write::run(flags)
}

/// Refuses flags of the scan where there is none.
fn refuse_scan_flags(flags: &SnapshotFlags, own: &str) -> Result<(), Failure> {
    let others = [
        (flags.scan.walk.explain, "--explain"),
        (flags.scan.links.count_links, "--count-links"),
    ];
    let other = others.iter().find(|(is_set, _)| *is_set);
    match first_of_scan(&flags.scan).or(other.map(|(_, flag)| *flag)) {
        Some(flag) => Err(Failure::Usage(format!(
            "{flag} is for a scan, and {own} scans nothing"
        ))),
        None => Ok(()),
    }
}

/// The store of this user.
fn store() -> Result<Store, Failure> {
    let path = places::store().ok_or_else(|| {
        let why = places::no_home();
        Failure::Usage(format!("cannot find the store: {why}; try -o DIR"))
    })?;
    Ok(Store::at(path))
}

fn shown(path: &Path) -> String {
    escape(path.as_os_str().as_bytes(), Charset::Unicode).into_owned()
}
