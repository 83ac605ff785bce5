// SPDX-License-Identifier: MIT OR Apache-2.0

//! The source that a scan of paths would have: this system has none yet.

use std::ffi::CStr;
use std::io;
use std::sync::Arc;

use crate::dir_handle::DirHandle;
use crate::entry::{Attributes, FileId, FileType};
use crate::failure::Failure;
use crate::fields::Fields;
use crate::listing::change_stamp::ChangeStamp;
use crate::listing::listed::{KeptNames, Listed};
use crate::listing::source::{Account, DirectorySource, EntryStat, More, Way};
use crate::reason::Reason;
use crate::source::choice::SourceOptions;

/// No source: no value of it exists, so nothing can be asked of it.
pub(crate) enum Native {}

/// The answer of no source.
pub(crate) enum NoStat {}

/// Says that a scan of paths cannot begin here.
///
/// It is always an error.
pub(crate) fn prepare(
    _options: &SourceOptions<'_>,
    _roots: &[Arc<CStr>],
    _why: &mut Vec<Reason>,
) -> Result<Native, (usize, io::Error)> {
    const WHY: &str = "no source reads the file systems of this system";
    Err((0, io::Error::new(io::ErrorKind::Unsupported, WHY)))
}

impl DirectorySource for Native {
    type Stat = NoStat;
    type StatError = Failure;

    fn account(&self) -> Account {
        match *self {}
    }

    fn find_root(&self, _: &CStr) -> Result<DirHandle, Failure> {
        match *self {}
    }

    fn find(&self, _: &DirHandle, _: &[u8], _: Way) -> Result<DirHandle, Failure> {
        match *self {}
    }

    fn find_above(&self, _: &DirHandle, _: usize) -> Result<DirHandle, Failure> {
        match *self {}
    }

    fn stat_entry(&self, _: &DirHandle, _: &CStr) -> Result<NoStat, Failure> {
        match *self {}
    }

    fn stat_path(&self, _: &CStr) -> Result<NoStat, Failure> {
        match *self {}
    }

    fn stat_directory(&self, _: &DirHandle) -> Result<NoStat, Failure> {
        match *self {}
    }

    fn list(
        &self,
        _: &DirHandle,
        _: &mut [u8],
        _: KeptNames,
        _: &mut Listed,
    ) -> Result<More, Failure> {
        match *self {}
    }
}

impl EntryStat for NoStat {
    fn kind(&self) -> FileType {
        match *self {}
    }

    fn id(&self) -> FileId {
        match *self {}
    }

    fn size_bytes(&self) -> u64 {
        match *self {}
    }

    fn links(&self) -> u32 {
        match *self {}
    }

    fn change_stamp(&self) -> ChangeStamp {
        match *self {}
    }

    fn attributes(&self, _: Fields) -> Attributes {
        match *self {}
    }
}
