// SPDX-License-Identifier: MIT OR Apache-2.0

//! The identity of each marked item, from the moment of its mark.
//!
//! A look can hang on a dead file system. So each has a thread of its own, and a survey
//! waits for the looks at its own items alone.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use statwalk_browse::{Data, ItemId};
use statwalk_remove::{
    EntryType, Freshness, Known, Lookout, Monitor, Reading, Refusal, Root, Sighting, Step,
};
use statwalk_view::{Charset, Kind, escape};

use crate::request::Request;
use crate::system::clock;
use crate::system::stdio::reason;

/// How often somebody who waits asks whether that is still wanted.
const PERIOD: Duration = Duration::from_millis(20);

/// The sightings of all marks, and the roots of the scan. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Sightings {
    shared: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    /// By their paths, as the user gave them; absent while they are being resolved.
    roots: Option<Arc<Roots>>,
    /// Counts scans, and looks.
    scan: u64,
    look: u64,
    /// The looks that have not yet named their items.
    unnamed: BTreeSet<u64>,
    /// By path.
    marks: HashMap<Vec<u8>, Mark>,
}

/// The roots of one scan.
#[derive(Default)]
struct Roots {
    by_path: HashMap<Vec<u8>, Result<Root, String>>,
    /// Just before it began.
    begin_ns: Option<i64>,
}

/// The last look at an item.
struct Mark {
    look: u64,
    /// Absent while it goes on.
    seen: Option<Result<Sighting, String>>,
}

/// The way from a root to an item, as the data has it.
pub(super) struct Way {
    pub(super) id: ItemId,
    /// As the rows show it.
    pub(super) path: Vec<u8>,
    root: Vec<u8>,
    root_known: Known,
    steps: Vec<Step>,
    reading: Reading,
}

/// An item, and whether it is as the scan has read it.
pub(super) struct Compared {
    pub(super) sighting: Sighting,
    pub(super) has_changed: bool,
}

impl Way {
    pub(super) fn of(id: ItemId, data: &dyn Data) -> Option<Way> {
        let mut steps = Vec::new();
        let mut at = id;
        let root = loop {
            let item = data.item(at)?;
            let entry_type = match item.kind {
                Kind::Directory => Some(EntryType::Directory),
                Kind::File => Some(EntryType::File),
                Kind::Link => Some(EntryType::Link),
                // Its type can be unknown.
                Kind::Other => None,
                Kind::Rest | Kind::Itself | Kind::Roots => return None,
            };
            let step = Step {
                name: item.name.into_owned(),
                known: Known {
                    device_and_inode: data.identity(at),
                    entry_type,
                },
            };
            match data.parent(at) {
                Some(above) => at = above,
                None => break step,
            }
            steps.push(step);
        };
        steps.reverse();
        let item = data.item(id)?;
        let is_read = matches!(item.kind, Kind::File | Kind::Link) && !item.notes.is_unreadable;
        // Another name of the inode has its bytes.
        let bytes = u64::try_from(item.apparent_bytes).ok();
        let bytes = bytes.filter(|_| is_read && !item.notes.counts_elsewhere);
        Some(Way {
            id,
            reading: Reading {
                bytes,
                mtime_ns: item.newest_ns.filter(|_| is_read),
                begin_ns: None,
            },
            path: data.path(id)?,
            root: root.name,
            root_known: root.known,
            steps,
        })
    }

    /// Looks at the item.
    fn look(&self, roots: &Roots, lookout: &mut Lookout) -> Result<Sighting, String> {
        match roots.by_path.get(&self.root) {
            Some(Ok(root)) => {
                let seen = lookout.look(root, self.root_known, &self.steps);
                seen.map_err(|refusal| refusal.to_string())
            }
            Some(Err(error)) => Err(error.clone()),
            None => Err(format!(
                "{} lies below no root of the scan",
                escape(&self.path, Charset::Unicode)
            )),
        }
    }
}

impl Way {
    /// Looks at the item when it is marked.
    fn mark(&self, roots: &Roots, lookout: &mut Lookout) -> Result<Sighting, String> {
        let seen = self.look(roots, lookout)?;
        match self.freshness(&seen, roots) {
            Freshness::Replaced => {
                let path = seen.path().to_vec();
                let at = path.clone();
                Err(Refusal::Replaced { path, at }.to_string())
            }
            Freshness::AsRead | Freshness::Changed => Ok(seen),
        }
    }

    fn freshness(&self, seen: &Sighting, roots: &Roots) -> Freshness {
        seen.freshness(&Reading {
            begin_ns: roots.begin_ns,
            ..self.reading
        })
    }
}

impl Sightings {
    fn state(&self) -> MutexGuard<'_, State> {
        let (state, _) = &*self.shared;
        state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.shared.1.notify_all();
    }

    /// Resolves the roots of a scan that is about to begin.
    pub(super) fn begin_scan(&self, request: &Request) {
        let mut state = self.state();
        state.roots = None;
        state.scan += 1;
        let scan = state.scan;
        drop(state);
        let begin_ns = Some(clock::now_ns());
        let (own, follows) = (self.clone(), request.follows);
        let paths = request.paths.clone();
        let resolve = move || {
            let root = |path: &[u8]| {
                Root::find(path, follows).map_err(|error| {
                    let path = escape(path, Charset::Unicode);
                    format!("cannot resolve {path}: {}", reason(&error))
                })
            };
            let paths = paths.iter().map(|path| path.as_os_str().as_bytes());
            let roots = Roots {
                by_path: paths.map(|path| (path.to_vec(), root(path))).collect(),
                begin_ns,
            };
            let mut state = own.state();
            if state.scan == scan {
                state.roots = Some(Arc::new(roots));
            }
            drop(state);
            own.changed();
        };
        if start("roots", resolve).is_err() {
            // Without a thread nothing can be removed either.
            self.state().roots = Some(Arc::default());
        }
    }

    /// Looks at items that were just marked.
    pub(super) fn identify(&self, ids: Vec<ItemId>, data: Arc<dyn Data>) {
        let mut state = self.state();
        state.look += 1;
        let look = state.look;
        state.unnamed.insert(look);
        drop(state);
        let own = self.clone();
        let work = move || {
            let ways: Vec<Way> = (ids.iter()).filter_map(|id| Way::of(*id, &*data)).collect();
            let mut state = own.state();
            state.unnamed.remove(&look);
            for way in &ways {
                let mark = Mark { look, seen: None };
                let known = state.marks.entry(way.path.clone()).or_insert(mark);
                if known.look < look {
                    *known = Mark { look, seen: None };
                }
            }
            drop(state);
            own.changed();
            let Some(roots) = own.roots(&|| false) else {
                return;
            };
            let mut lookout = Lookout::default();
            for way in ways {
                let seen = way.mark(&roots, &mut lookout);
                if let Some(mark) = own.state().marks.get_mut(&way.path)
                    && mark.look == look
                {
                    mark.seen = Some(seen);
                }
            }
            own.changed();
        };
        if start("marks", work).is_err() {
            self.state().unnamed.remove(&look);
        }
    }

    /// Whether a look at marked items goes on.
    #[cfg(test)]
    pub(super) fn is_looking(&self) -> bool {
        let state = self.state();
        let mut marks = state.marks.values();
        !state.unnamed.is_empty() || marks.any(|mark| mark.seen.is_none())
    }

    /// Looks at items again, and compares them with their marks. An item that is another
    /// one has a sentence about it. Absent where the survey was stopped.
    pub(super) fn compare(
        &self,
        ways: &[Way],
        monitor: &Monitor,
    ) -> Option<Vec<Result<Compared, String>>> {
        let is_stopped = || monitor.is_stopped();
        let roots = self.roots(&is_stopped)?;
        self.wait(&is_stopped, |state| state.unnamed.is_empty().then_some(()))?;
        let mut lookout = Lookout::default();
        let mut all = Vec::with_capacity(ways.len());
        for way in ways {
            let marked = self.wait(&is_stopped, |state| match state.marks.get(&way.path) {
                Some(mark) => mark.seen.clone(),
                None => Some(Err(format!(
                    "nobody looked at {} when it was marked: mark it again",
                    escape(&way.path, Charset::Unicode)
                ))),
            })?;
            let seen = match (marked, way.look(&roots, &mut lookout)) {
                (Ok(marked), Ok(seen)) if marked.is_same_item(&seen) => Ok(Compared {
                    // It is the marked item, so no other one has its place.
                    has_changed: way.freshness(&seen, &roots) != Freshness::AsRead,
                    sighting: seen,
                }),
                (Ok(_), Ok(seen)) => {
                    let path = seen.path().to_vec();
                    Err(Refusal::ReplacedAfterMark { path }.to_string())
                }
                // What stands there now says more.
                (_, Err(error)) | (Err(error), Ok(_)) => Err(error),
            };
            all.push(seen);
        }
        Some(all)
    }

    fn roots(&self, is_stopped: &dyn Fn() -> bool) -> Option<Arc<Roots>> {
        self.wait(is_stopped, |state| state.roots.clone())
    }

    /// Waits until the state has an answer. Absent where that is not wanted any more.
    fn wait<T>(
        &self,
        is_stopped: &dyn Fn() -> bool,
        answer: impl Fn(&State) -> Option<T>,
    ) -> Option<T> {
        let mut state = self.state();
        loop {
            if let Some(answer) = answer(&state) {
                return Some(answer);
            }
            if is_stopped() {
                return None;
            }
            let waited = self.shared.1.wait_timeout(state, PERIOD);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().name(format!("browse-{name}"));
    builder.spawn(work).map(drop)
}
