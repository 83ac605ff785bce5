// SPDX-License-Identifier: MIT OR Apache-2.0

//! A sink that keeps every attribute of every entry, to compare sources.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use statwalk_core::{Attributes, Batch, Collect, Context, Directory, Fields, Origin, Sink, Time};

/// Keeps all that is known of every entry, by path.
pub(crate) struct Records;

pub(crate) struct RecordsState(Vec<(Vec<u8>, Record)>);

/// All that is known of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    kind: char,
    size_bytes: Option<u64>,
    allocated_bytes: Option<u64>,
    links: Option<u32>,
    id: Option<statwalk_core::FileId>,
    /// Modified, changed, born; reading can change when it was read.
    times_ns: [Option<i64>; 3],
    /// Known also where nanoseconds do not hold the time.
    times_s: [Option<i64>; 3],
    owner: (Option<u32>, Option<u32>),
    mode: Option<u16>,
    rdev: Option<u64>,
    /// Without DAX, which depends on the mount.
    flags: Option<u32>,
}

impl Record {
    pub(crate) fn forget_times(&mut self) {
        (self.times_ns, self.times_s) = ([None; 3], [None; 3]);
    }

    pub(crate) fn of(attributes: &Attributes) -> Record {
        Record {
            kind: attributes.kind.letter(),
            size_bytes: attributes.size_bytes(),
            allocated_bytes: attributes.allocated_bytes(),
            links: attributes.links(),
            id: attributes.id(),
            times_ns: [
                attributes.mtime_ns(),
                attributes.time_ns(Time::Changed),
                attributes.time_ns(Time::Born),
            ],
            times_s: [
                attributes.mtime_s(),
                attributes.time_s(Time::Changed),
                attributes.time_s(Time::Born),
            ],
            owner: (attributes.uid(), attributes.gid()),
            mode: attributes.mode(),
            rdev: attributes.rdev(),
            flags: attributes.flags().map(|flags| flags & !0x20_0000),
        }
    }
}

impl Sink for Records {
    type State = RecordsState;
    type Output = BTreeMap<Vec<u8>, Record>;

    fn fields(&self) -> Fields {
        let times = Fields::MTIME | Fields::CTIME | Fields::BTIME;
        let sizes = Fields::SIZE | Fields::ALLOCATED | Fields::LINKS | Fields::ID;
        let others = Fields::OWNER | Fields::MODE | Fields::RDEV | Fields::FLAGS;
        Fields::NAME | Fields::TYPE | sizes | times | others
    }

    fn states(&self, _: &Context, count: usize) -> Vec<RecordsState> {
        (0..count).map(|_| RecordsState(Vec::new())).collect()
    }

    /// # Panics
    ///
    /// If a path comes twice.
    fn merge(&self, _: &Context, states: Vec<RecordsState>) -> Self::Output {
        let mut all = BTreeMap::new();
        for (path, record) in states.into_iter().flat_map(|state| state.0) {
            let told = super::text(&path);
            assert!(all.insert(path, record).is_none(), "{told} twice");
        }
        all
    }
}

impl Collect for RecordsState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        let record = Record::of(directory.attributes());
        self.0.push((directory.path(), record));
        ControlFlow::Continue(())
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        self.0.extend(batch.iter().map(|entry| {
            let record = Record::of(&entry.attributes);
            (origin.entry_path(entry.name), record)
        }));
        ControlFlow::Continue(())
    }
}
