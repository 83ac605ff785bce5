// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk browse`: directories in the terminal, while they are read and after.

use std::ffi::OsString;

use statwalk_browse::{Bytes, Options};
use statwalk_view::SizeFormat;

use crate::browse::{self, keys_file};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::BrowseFlags;
use crate::request::Request;
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
        owner: accounts::user_text,
        starts_programs: flags.read_only < 2,
        follows_links: flags.links.follow,
        removes: (flags.enable_delete || own.enables_delete) && flags.read_only == 0,
    };
    let (read, links) = (flags.read, flags.links);
    let request = |paths: Vec<OsString>| Request::of_browser(&read, &links, paths);
    match flags.paths.is_empty() {
        true => browse::run_on_mounts(|path| request(vec![path]), options),
        false => browse::run(request(flags.paths)?, options),
    }
}
