// SPDX-License-Identifier: MIT OR Apache-2.0

//! A sink that keeps a record of each entry.

use std::fmt;
use std::ops::ControlFlow;

use statwalk_core::{Attributes, Batch, Collect, Context, Directory, Fields, FileType, Origin, Sink, Time};

/// Keeps a record of each entry but the root.
pub struct Records;

#[expect(
    dead_code,
    reason = "a record is kept for its own sake; only some fields are added up"
)]
pub struct Record {
    kind: FileType,
    name_end: usize,
    size_bytes: u64,
    mtime_ns: i64,
    atime_ns: i64,
    ctime_ns: i64,
}

/// The records that one worker has made, and their names one after another.
#[derive(Default)]
pub struct Kept {
    records: Vec<Record>,
    names: Vec<u8>,
}

/// What all workers have kept.
pub struct AllKept(Vec<Kept>);

impl Sink for Records {
    type State = Kept;
    type Output = AllKept;

    fn fields(&self) -> Fields {
        Fields::NAME | Fields::TYPE | Fields::SIZE | Fields::MTIME | Fields::ATIME | Fields::CTIME
    }

    fn states(&self, _: &Context, count: usize) -> Vec<Kept> {
        (0..count).map(|_| Kept::default()).collect()
    }

    fn merge(&self, _: &Context, states: Vec<Kept>) -> AllKept {
        AllKept(states)
    }
}

impl Collect for Kept {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        if directory.parent().is_some() {
            self.keep(directory.name(), directory.attributes());
        }
        ControlFlow::Continue(())
    }

    fn batch(&mut self, _: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        for entry in batch.iter() {
            self.keep(entry.name, &entry.attributes);
        }
        ControlFlow::Continue(())
    }
}

impl Kept {
    fn keep(&mut self, name: &[u8], attributes: &Attributes) {
        self.names.extend_from_slice(name);
        self.records.push(Record {
            kind: attributes.kind,
            name_end: self.names.len(),
            // What could not be read is told by the report.
            size_bytes: attributes.size_bytes().unwrap_or(0),
            mtime_ns: attributes.mtime_ns().unwrap_or(0),
            atime_ns: attributes.time_ns(Time::Accessed).unwrap_or(0),
            ctime_ns: attributes.time_ns(Time::Changed).unwrap_or(0),
        });
    }
}

impl fmt::Display for AllKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut files, mut directories, mut bytes, mut mtime) = (0u64, 0u64, 0u64, 0i64);
        // The optimiser must not find that nobody reads the other fields.
        let kept = std::hint::black_box(&self.0);
        for record in kept.iter().flat_map(|kept| &kept.records) {
            match record.kind {
                FileType::Directory => directories += 1,
                _ => files += 1,
            }
            if record.kind == FileType::File {
                bytes += record.size_bytes;
            }
            mtime = mtime.wrapping_add(record.mtime_ns.div_euclid(1_000_000_000));
        }
        write!(f, "{files} {directories} {bytes} {mtime}")
    }
}
