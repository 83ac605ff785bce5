// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scan that goes on, on threads of its own.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use statwalk_browse::{Event, ItemId, ScanState};
use statwalk_core::{Canceller, DirId, LiveTree, Progress, Running, Tree, TreeSink};

use super::early_files::EarlyFiles;
use super::live_data::LiveData;
use super::message::Message;
use super::place::{Place, new_scan};
use super::tree_data::TreeData;
use crate::failure::Failure;
use crate::request::Request;
use crate::system::used_inodes;

/// How often the scan is looked after.
const PERIOD: Duration = Duration::from_millis(20);
/// How often the browser learns how far it has come.
const NEWS_PERIOD: Duration = Duration::from_millis(100);

/// The errors that are kept: the view shows them one by one.
pub(super) const ERRORS_KEPT: usize = 10_000;

/// A scan that goes on. When it is dropped, the scan ends.
pub(crate) struct LiveScan {
    pub(crate) data: Arc<LiveData>,
    /// Directories that are to be read next.
    wishes: Sender<DirId>,
    canceller: Canceller,
}

/// The sinks of a scan, for the time of the scan and for its end.
type Sinks = (LiveTree, TreeSink);

impl LiveScan {
    /// Starts a scan. For removals its tree keeps identities.
    pub(crate) fn start(
        request: &Request,
        keeps_identities: bool,
        news: Sender<Message>,
    ) -> Result<LiveScan, Failure> {
        let number = new_scan();
        let tree = LiveTree::new();
        let sinks = (tree.clone(), sink(request, keeps_identities));
        let scan = request.scan.clone().errors_kept(ERRORS_KEPT);
        let running = scan.start(sinks)?;
        let canceller = running.canceller();
        let roots: Vec<Vec<u8>> = (request.paths.iter())
            .map(|path| path.as_os_str().as_bytes().to_vec())
            .collect();
        let cover = request.cover();
        let inodes = cover.and_then(|cover| used_inodes::covered(&cover));
        let (wishes, wanted) = mpsc::channel();
        let data = Arc::new(LiveData::new(number, tree, roots.clone()));
        let thread = ScanThread {
            number,
            request: request.clone(),
            roots,
            early: Arc::clone(&data.early),
            inodes,
            started: Instant::now(),
            news,
        };
        let work = move || thread.watch(running, &wanted);
        let started = thread::Builder::new()
            .name("browse-scan".to_owned())
            .spawn(work);
        started.map_err(|error| {
            let reason = crate::system::stdio::reason(&error);
            Failure::Usage(format!("cannot start a thread: {reason}"))
        })?;
        Ok(LiveScan {
            data,
            wishes,
            canceller,
        })
    }

    /// Reads a directory next.
    pub(crate) fn prefer(&self, id: ItemId) {
        if let Some(Place::Dir(dir)) = Place::of(id, self.data.number) {
            // The scan may be over.
            let _ = self.wishes.send(dir);
        }
    }

    /// Ends the scan. Its sums are lower bounds then.
    pub(crate) fn stop(&self) {
        self.canceller.cancel();
    }
}

/// The tree that the browser needs.
pub(super) fn sink(request: &Request, keeps_identities: bool) -> TreeSink {
    let mut sink = TreeSink::new().with_files().with_owners();
    // Behind followed links, the first name of an inode is not the first by its path.
    if !request.follows {
        sink = sink.with_link_names();
    }
    match keeps_identities {
        true => sink.with_identities(),
        false => sink,
    }
}

/// The thread that looks after the scan.
struct ScanThread {
    number: u64,
    request: Request,
    roots: Vec<Vec<u8>>,
    early: Arc<EarlyFiles>,
    /// The inodes in use, where the scan covers a whole file system.
    inodes: Option<u64>,
    started: Instant,
    news: Sender<Message>,
}

impl ScanThread {
    fn watch(self, running: Running<Sinks>, wanted: &Receiver<DirId>) {
        let mut next_news = self.started;
        while !running.wait_for(PERIOD) {
            loop {
                match wanted.try_recv() {
                    Ok(dir) => running.prefer(dir),
                    Err(TryRecvError::Empty) => break,
                    // Nobody wants the answer any more.
                    Err(TryRecvError::Disconnected) => return,
                }
            }
            let now = Instant::now();
            if now >= next_news {
                next_news = now + NEWS_PERIOD;
                let state = self.state(&running.progress());
                if self.news.send(Message::Event(Event::Scan(state))).is_err() {
                    return;
                }
            }
        }
        let mut state = self.state(&running.progress());
        let outcome = running.finish();
        let ((), tree): ((), Tree) = outcome.output;
        let report = outcome.report;
        let sum = report.sum();
        state.is_over = true;
        state.is_interrupted = report.interrupted;
        state.unreadable = sum.unreadable + report.hanging.len() as u64;
        let roots = (0..tree.root_count()).filter_map(|index| tree.root(index));
        let reached = roots.filter_map(|root| root.allocated_bytes()).sum();
        let elsewhere =
            (self.request.cover()).and_then(|cover| used_inodes::elsewhere(&cover, reached));
        let elsewhere = elsewhere.filter(|_| !report.interrupted);
        state.elsewhere_bytes = elsewhere.map(|elsewhere| elsewhere.bytes);
        let data = TreeData::new(self.number, tree, &self.roots, &report, self.early);
        let scanned = Message::Scanned(self.number, Arc::new(data), report.interrupted);
        let _ = self.news.send(scanned);
        let _ = self.news.send(Message::Event(Event::Scan(state)));
    }

    fn state(&self, progress: &Progress) -> ScanState {
        let percent = self.inodes.or(progress.entries_expected).map(|all| {
            let done = u128::from(progress.entries) * 100 / u128::from(all.max(1));
            // The number of inodes is no promise.
            u8::try_from(done).unwrap_or(99).min(99)
        });
        let current = progress.current.first();
        ScanState {
            is_over: false,
            is_interrupted: false,
            entries: progress.entries,
            unreadable: progress.unreadable,
            elapsed: self.started.elapsed(),
            percent,
            elsewhere_bytes: None,
            current: current.map_or(Vec::new(), |(path, _)| path.clone()),
            taken: None,
        }
    }
}
