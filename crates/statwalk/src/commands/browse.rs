// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk browse`: directories in the terminal, while they are read and after.

use std::ffi::OsString;
#[cfg(feature = "snapshot")]
use std::path::Path;

use statwalk_browse::{Bytes, Options, OwnerNames};
use statwalk_view::SizeFormat;

#[cfg(feature = "snapshot")]
use crate::browse::StoredData;
use crate::browse::{self, keys_file};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::BrowseFlags;
use crate::request::Request;
#[cfg(feature = "snapshot")]
use crate::request::scan_flags::{first_of_links, first_of_reading};
#[cfg(feature = "snapshot")]
use crate::stored::{self, StoredScan, shown};
use crate::system::accounts;
use crate::system::screen;

pub(super) fn run(flags: BrowseFlags) -> Result<ExitStatus, Failure> {
    let own = keys_file::read()?;
    let options = Options {
        keymap: own.keymap,
        format: match flags.si {
            true => SizeFormat::Si,
            false => SizeFormat::Binary,
        },
        bytes: match flags.apparent_size {
            true => Bytes::Apparent,
            false => Bytes::Disk,
        },
        charset: screen::charset(),
        colour: screen::colour(flags.color),
        owners: OwnerNames::new(accounts::user_text),
        starts_programs: flags.read_only < 2,
        follows_links: flags.links.follow,
        removes: (flags.enable_delete || own.enables_delete) && flags.read_only == 0,
    };
    #[cfg(feature = "snapshot")]
    if let Some(stored) = StoredScan::named(&flags.paths)? {
        return run_on_snapshot(stored, &flags, options);
    }
    let (read, links) = (flags.read, flags.links);
    let request = |paths: Vec<OsString>| Request::of_browser(&read, &links, paths);
    match flags.paths.is_empty() {
        true => browse::run_on_mounts(|path| request(vec![path]), options),
        false => browse::run(request(flags.paths)?, options),
    }
}

/// Browses a snapshot. Nothing of it can be removed, and flags of a scan have no meaning.
#[cfg(feature = "snapshot")]
fn run_on_snapshot(
    stored: StoredScan,
    flags: &BrowseFlags,
    options: Options,
) -> Result<ExitStatus, Failure> {
    let of_scan = first_of_reading(&flags.read).or_else(|| first_of_links(&flags.links));
    let of_scan = of_scan.or(flags.links.count_links.then_some("--count-links"));
    if let Some(flag) = of_scan {
        let why = "is for a scan, and a snapshot was scanned before";
        return Err(Failure::Usage(format!("{flag} {why}")));
    }
    if flags.enable_delete {
        let why = "--enable-delete is for a scan: nothing is removed by a snapshot";
        return Err(Failure::Usage(why.to_owned()));
    }
    let word = stored.word().to_owned();
    let (snapshot, inside) = stored.into_snapshot();
    let data = StoredData::open(snapshot, inside.as_deref());
    let data = data.map_err(|error| stored::failure("read", Path::new(&word), &error))?;
    let Some(data) = data else {
        let word = shown(Path::new(&word));
        return Err(Failure::Usage(format!(
            "cannot read {word}: it is not in the snapshot"
        )));
    };
    let names = data.owners().clone();
    let owners = OwnerNames::new(move |uid| {
        let name = names.user(uid)?;
        Some(String::from_utf8_lossy(name).into_owned())
    });
    let options = Options {
        owners,
        removes: false,
        ..options
    };
    browse::run_on_snapshot(data, options)
}
