// SPDX-License-Identifier: MIT OR Apache-2.0

//! In the place of stored scans, in a program without them: there is none.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Zoned;
use statwalk_core::Sink;

use crate::answer::origin::Origin;
use crate::answer::owner_names::Owners;
use crate::answer::record::Findings;
use crate::failure::Failure;

/// A stored scan, of which there is none.
#[derive(Debug)]
pub(crate) enum StoredScan {}

/// How a stored scan is read.
#[allow(dead_code, reason = "nothing reads one")]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) depth_max: Option<u32>,
    pub(crate) counts_links: bool,
    pub(crate) errors_max: Option<usize>,
}

/// The space of a file system at the time of a scan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredSpace {
    pub(crate) block_bytes: u64,
    pub(crate) blocks: u64,
    pub(crate) free_blocks: u64,
    pub(crate) available_blocks: u64,
}

impl StoredScan {
    pub(crate) fn spaces(&self) -> Vec<(Vec<u8>, StoredSpace)> {
        match *self {}
    }

    #[expect(clippy::unnecessary_wraps, reason = "the other one can fail")]
    pub(crate) fn named(_: &[OsString]) -> Result<Option<StoredScan>, Failure> {
        Ok(None)
    }

    pub(crate) fn word(&self) -> &OsStr {
        match *self {}
    }

    pub(crate) fn has_access_times(&self) -> bool {
        match *self {}
    }

    pub(crate) fn has_cache_tag(&self, _: &[u8]) -> bool {
        match *self {}
    }

    pub(crate) fn origin(&self) -> Arc<Origin> {
        match *self {}
    }

    pub(crate) fn now(&self) -> Zoned {
        match *self {}
    }

    pub(crate) fn root(&self) -> PathBuf {
        match *self {}
    }

    pub(crate) fn uid(&self, _: &[u8]) -> Result<Option<u32>, Failure> {
        match *self {}
    }

    pub(crate) fn gid(&self, _: &[u8]) -> Result<Option<u32>, Failure> {
        match *self {}
    }

    pub(crate) fn findings(&self, _: &Reading) -> Result<Findings, Failure> {
        match *self {}
    }

    pub(crate) fn replay<S: Sink>(
        &self,
        _: S,
        _: &Reading,
        _: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<S::Output, Failure> {
        match *self {}
    }
}

impl Owners for StoredScan {
    fn user(&self, _: u32) -> Option<Vec<u8>> {
        match *self {}
    }

    fn group(&self, _: u32) -> Option<Vec<u8>> {
        match *self {}
    }
}
