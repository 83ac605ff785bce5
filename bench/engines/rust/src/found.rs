// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a round, or one thread of it, has found.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{FileType, Metadata};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Model {
    Count,
    Size,
    Records,
    Directory,
}

#[expect(
    dead_code,
    reason = "a record is kept for its own sake; only times are added up"
)]
pub struct Record {
    name: OsString,
    size: u64,
    kind: FileType,
    mtime: (i64, i64),
    atime: (i64, i64),
    ctime: (i64, i64),
}

#[derive(Default)]
pub struct Found {
    files: u64,
    directories: u64,
    bytes: u64,
    records: Vec<Record>,
    pub failed: bool,
}

impl Model {
    /// Whether the attributes of an entry of this type are wanted.
    pub fn wants_metadata(self, kind: FileType) -> bool {
        match self {
            Model::Count => false,
            Model::Size => kind.is_file(),
            Model::Records | Model::Directory => true,
        }
    }

    /// How far below the root is walked, for walkers that can be told.
    pub fn depth(self) -> usize {
        if self == Model::Directory {
            1
        } else {
            usize::MAX
        }
    }
}

impl Found {
    /// Takes an entry, with its attributes where the model wants them.
    pub fn entry<E: Display>(
        &mut self,
        model: Model,
        kind: FileType,
        name: impl FnOnce() -> OsString,
        metadata: Option<Result<Metadata, E>>,
    ) {
        if kind.is_dir() {
            self.directories += 1;
        } else {
            self.files += 1;
        }
        let metadata = match metadata {
            Some(Ok(metadata)) => metadata,
            Some(Err(error)) => return self.fail(error),
            None => return,
        };
        if kind.is_file() {
            self.bytes += metadata.len();
        }
        if model == Model::Records {
            self.records.push(Record {
                name: name(),
                size: metadata.len(),
                kind,
                mtime: (metadata.mtime(), metadata.mtime_nsec()),
                atime: (metadata.atime(), metadata.atime_nsec()),
                ctime: (metadata.ctime(), metadata.ctime_nsec()),
            });
        }
    }

    pub fn fail(&mut self, error: impl Display) {
        eprintln!("{error}");
        self.failed = true;
    }

    /// Takes what another thread has found.
    pub fn add(&mut self, mut other: Found) {
        self.files += other.files;
        self.directories += other.directories;
        self.bytes += other.bytes;
        self.records.append(&mut other.records);
        self.failed |= other.failed;
    }

    pub fn print(&self, model: Model, elapsed: Duration) {
        let Found {
            files,
            directories,
            bytes,
            ..
        } = *self;
        let ns = elapsed.as_nanos();
        if model == Model::Records {
            // The optimiser must not find that nobody reads the other fields.
            let records = std::hint::black_box(&self.records);
            let mtime = records
                .iter()
                .fold(0i64, |sum, record| sum.wrapping_add(record.mtime.0));
            println!("{ns} {files} {directories} {bytes} {mtime}");
        } else {
            println!("{ns} {files} {directories} {bytes}");
        }
    }
}
