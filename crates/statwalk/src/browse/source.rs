// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers that a browser begins with: those of a scan that goes on, or of a snapshot.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use statwalk_browse::{Data, Details, Disk, Effect, Event, ItemId, ScanState};
use statwalk_core::DirId;

use super::details;
use super::early_files::EarlyFiles;
use super::message::Message;
use super::place::Place;
use super::real_disk::RealDisk;
use super::scan::LiveScan;
#[cfg(feature = "snapshot")]
use super::stored_data::StoredData;
#[cfg(feature = "snapshot")]
use super::stored_wishes;
use crate::failure::Failure;
use crate::request::Request;
use crate::system::clock;

/// The origin of the numbers.
pub(super) enum Source {
    Scan {
        scan: LiveScan,
        request: Box<Request>,
    },
    #[cfg(feature = "snapshot")]
    Snapshot(Arc<StoredData>),
}

/// The disk, or the snapshot that stands for it where somebody asks about the disk.
pub(super) enum Facts {
    Disk,
    #[cfg(feature = "snapshot")]
    Snapshot(Arc<StoredData>),
}

impl Facts {
    pub(super) fn disk(&self) -> &dyn Disk {
        match self {
            Facts::Disk => &RealDisk,
            #[cfg(feature = "snapshot")]
            Facts::Snapshot(data) => &**data,
        }
    }

    /// The facts about an item. Absent where `stop` asked to end.
    pub(super) fn details(
        &self,
        id: ItemId,
        data: &dyn Data,
        stop: &dyn Fn() -> bool,
    ) -> Option<Details> {
        match self {
            Facts::Disk => details::of(id, data, stop),
            #[cfg(feature = "snapshot")]
            Facts::Snapshot(data) => Some(stored_wishes::details(id, data)),
        }
    }
}

impl Source {
    /// Starts a scan. For removals its tree keeps identities.
    pub(super) fn start(
        request: Box<Request>,
        keeps_identities: bool,
        news: Sender<Message>,
    ) -> Result<Source, Failure> {
        let scan = LiveScan::start(&request, keeps_identities, news)?;
        Ok(Source::Scan { scan, request })
    }

    /// The scan that the user asked for; absent for a snapshot, which stays as it is.
    pub(super) fn request(&self) -> Option<&Request> {
        match self {
            Source::Scan { request, .. } => Some(request),
            #[cfg(feature = "snapshot")]
            Source::Snapshot(_) => None,
        }
    }

    fn scan(&self) -> Option<&LiveScan> {
        match self {
            Source::Scan { scan, .. } => Some(scan),
            #[cfg(feature = "snapshot")]
            Source::Snapshot(_) => None,
        }
    }

    /// The numbers.
    pub(super) fn data(&self) -> Arc<dyn Data> {
        match self {
            Source::Scan { scan, .. } => Arc::clone(&scan.data) as Arc<dyn Data>,
            #[cfg(feature = "snapshot")]
            Source::Snapshot(data) => Arc::clone(data) as Arc<dyn Data>,
        }
    }

    /// How far it has come, if that changes no more.
    pub(super) fn end_state(&self) -> Option<ScanState> {
        match self {
            Source::Scan { .. } => None,
            #[cfg(feature = "snapshot")]
            Source::Snapshot(data) => Some(data.state()),
        }
    }

    /// The moment from which ages count.
    pub(super) fn now_ns(&self) -> i64 {
        match self {
            Source::Scan { .. } => clock::now_ns(),
            #[cfg(feature = "snapshot")]
            Source::Snapshot(data) => data.began_ns(),
        }
    }

    /// The first error of a read since the last question for it.
    pub(super) fn take_failure(&self) -> Option<String> {
        match self {
            Source::Scan { .. } => None,
            #[cfg(feature = "snapshot")]
            Source::Snapshot(data) => data.take_failure(),
        }
    }

    /// The answer to a wish that it does not fulfil; absent where it does.
    #[cfg_attr(
        not(feature = "snapshot"),
        expect(unused_variables, reason = "a scan fulfils each")
    )]
    pub(super) fn refusal(&self, wish: &Effect) -> Option<Event> {
        match self {
            Source::Scan { .. } => None,
            #[cfg(feature = "snapshot")]
            Source::Snapshot(data) => stored_wishes::refusal(wish, data),
        }
    }

    pub(super) fn facts(&self) -> Facts {
        match self {
            Source::Scan { .. } => Facts::Disk,
            #[cfg(feature = "snapshot")]
            Source::Snapshot(data) => Facts::Snapshot(Arc::clone(data)),
        }
    }

    /// Whether this is the scan with a number. Answers about another come too late.
    pub(super) fn is_scan(&self, number: u64) -> bool {
        self.scan().is_some_and(|scan| scan.data.number == number)
    }

    /// The files that a scan knows before its end, and the number of a directory there.
    pub(super) fn early(&self, dir: ItemId) -> Option<(Arc<EarlyFiles>, DirId)> {
        let scan = self.scan()?;
        match Place::of(dir, scan.data.number)? {
            Place::Dir(dir) => Some((Arc::clone(&scan.data.early), dir)),
            _ => None,
        }
    }

    /// Reads a directory next, where a scan goes on.
    pub(super) fn prefer(&self, id: ItemId) {
        if let Some(scan) = self.scan() {
            scan.prefer(id);
        }
    }

    /// Ends the scan.
    pub(super) fn stop(&self) {
        if let Some(scan) = self.scan() {
            scan.stop();
        }
    }
}
