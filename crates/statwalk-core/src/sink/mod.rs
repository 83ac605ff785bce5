// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where entries go.
//!
//! A [`Sink`] makes one [`Collect`] state for each worker. A worker folds what
//! it reads into its own state, without locks; at the end the states are merged.
//! A sink does not know where entries come from and does not choose what is
//! read next.

mod entry_filter;
mod first_names;
mod live;
mod name_arena;
mod seen_inodes;
mod stats;
mod top;
mod totals;
mod tree;

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

pub use live::{LiveDir, LiveState, LiveTree};
pub use seen_inodes::CountedInodes;
pub use stats::{Stats, StatsGroup, StatsState, Tally};
pub use statwalk_format::path_order;
pub use top::{Largest, Top, TopOf, TopState};
pub use totals::{RootSizes, RootTotals, Totals, TotalsState};
pub use tree::{Node, NodeId, NodeKind, Tree, TreeFile, TreeSink, TreeState};

use crate::batch::Batch;
use crate::directory::{Directory, Origin};
use crate::entry::{DirId, FileId};
use crate::error::EntryError;
use crate::fields::Fields;
use crate::inode_numbers::InodeNumbers;

/// The facts that a sink learns before the scan begins.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Context {
    /// The roots, as the caller gave them. The states of all workers share them.
    pub roots: Arc<[Vec<u8>]>,
    /// How hard links count.
    pub links: LinkPolicy,
    /// Whether symbolic links are followed, so that any inode, and not only one
    /// with several links, can be reached by several names.
    pub follows: bool,
    /// The current time, in nanoseconds since 1970.
    pub now_ns: i64,
    /// The inodes that can be reached by several names, for all sinks and workers.
    pub(crate) inodes: Arc<InodeNumbers>,
    /// Files that have several names by mounts, whatever their links. Absent where there are
    /// none, so that a scan asks once an entry whether there are.
    pub(crate) mounted_files: Option<Arc<HashSet<FileId>>>,
}

impl Context {
    /// The facts for a sink that no scan drives: see [`Replay`](crate::Replay). Inodes
    /// count once, and links are not followed; the fields change that.
    ///
    /// ```
    /// use statwalk_core::{Context, LinkPolicy};
    /// let mut context = Context::new(["/srv", "/data"], 1_700_000_000_000_000_000);
    /// context.links = LinkPolicy::Each;
    /// ```
    #[must_use]
    pub fn new(roots: impl IntoIterator<Item = impl Into<Vec<u8>>>, now_ns: i64) -> Context {
        Context {
            roots: roots.into_iter().map(Into::into).collect(),
            links: LinkPolicy::default(),
            follows: false,
            now_ns,
            inodes: Arc::new(InodeNumbers::new()),
            mounted_files: None,
        }
    }
}

/// How an inode with several names counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LinkPolicy {
    /// Its bytes count once.
    #[default]
    Once,
    /// Its bytes count for every name.
    Each,
}

/// Where entries go.
///
/// ```
/// use std::ops::ControlFlow;
/// use statwalk_core::{Batch, Collect, Context, Fields, Origin, Scan, Sink};
///
/// /// Counts names that begin with a dot.
/// struct Hidden;
///
/// impl Sink for Hidden {
///     type State = HiddenState;
///     type Output = u64;
///     fn fields(&self) -> Fields {
///         Fields::NAME
///     }
///     fn states(&self, _: &Context, count: usize) -> Vec<HiddenState> {
///         (0..count).map(|_| HiddenState(0)).collect()
///     }
///     fn merge(&self, _: &Context, states: Vec<HiddenState>) -> u64 {
///         states.iter().map(|state| state.0).sum()
///     }
/// }
/// struct HiddenState(u64);
///
/// impl Collect for HiddenState {
///     fn batch(&mut self, _: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
///         self.0 += batch.iter().filter(|entry| entry.name.starts_with(b".")).count() as u64;
///         ControlFlow::Continue(())
///     }
/// }
/// let outcome = Scan::new(".").run(&Hidden)?;
/// let hidden = outcome.output;
/// assert!(outcome.report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
pub trait Sink {
    /// The state that one worker collects.
    type State: Collect;
    /// The answer of a scan.
    type Output;

    /// Which fields it needs of each entry.
    fn fields(&self) -> Fields;

    /// Makes the states of `count` workers.
    fn states(&self, context: &Context, count: usize) -> Vec<Self::State>;

    /// Puts the states together.
    ///
    /// Which state saw which entry depends on chance; the answer must not.
    fn merge(&self, context: &Context, states: Vec<Self::State>) -> Self::Output;
}

/// The state that one worker collects.
///
/// [`ControlFlow::Break`] from any call ends the whole scan. Workers have a stack of
/// 256 KiB.
pub trait Collect: Send + 'static {
    /// Takes a directory. Each comes once, to one of the states; its batches
    /// may reach other states, and earlier.
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        let _ = directory;
        ControlFlow::Continue(())
    }

    /// Takes some entries of a directory, or a root that is no directory: never none.
    ///
    /// Of the directory's attributes this call may know the type alone.
    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()>;

    /// Learns that something in the directory is missing: it or an entry of it
    /// could not be read, or it did not hold still.
    fn incomplete(&mut self, directory: &Directory<'_>) {
        let _ = directory;
    }

    /// Learns that a directory and everything below it are finished: all of it was
    /// delivered, to this state or others.
    ///
    /// Each comes once, those below it first. An unreadable entry was reported, and
    /// counts as finished. A scan that ends early leaves directories unfinished: each
    /// lacks something, or something below it does.
    ///
    /// Of its attributes this call may know the type alone.
    fn finished(&mut self, directory: &Directory<'_>) {
        let _ = directory;
    }

    /// Learns the names in a directory that come later, as subdirectories or as links that are
    /// followed. The order [`Sorted`](crate::tuning::AnyOrder::Sorted) alone says so.
    #[doc(hidden)]
    fn waiting(&mut self, directory: DirId, names: &mut dyn Iterator<Item = &[u8]>) {
        let _ = (directory, names);
    }

    /// Learns that one of those names comes no more. The order
    /// [`Sorted`](crate::tuning::AnyOrder::Sorted) alone says so.
    #[doc(hidden)]
    fn gone(&mut self, directory: DirId, name: &[u8]) {
        let _ = (directory, name);
    }

    /// Learns that all entries of a directory were delivered, but those that wait: by one
    /// worker, or others have delivered some. The order
    /// [`Sorted`](crate::tuning::AnyOrder::Sorted) alone says so.
    #[doc(hidden)]
    fn listed(&mut self, directory: DirId, is_by_one_worker: bool) {
        let _ = (directory, is_by_one_worker);
    }

    /// Takes an entry that could not be read, or a directory that did not hold still.
    fn failed(&mut self, error: &EntryError) -> ControlFlow<()> {
        let _ = error;
        ControlFlow::Continue(())
    }

    /// Gives the error because of which this state has ended the scan, if there is one.
    ///
    /// For sinks that can fail, such as one that writes to a disk: the state keeps the
    /// error and breaks. The scan asks each state once, at its end and before
    /// [`Sink::merge`]. [`Scan::run`](crate::Scan::run) then returns the first error, and
    /// [`Running::finish`](crate::Running::finish) has it in
    /// [`Report::sink_error`](crate::Report::sink_error).
    ///
    /// ```
    /// use std::{io, ops::ControlFlow};
    /// use statwalk_core::{Batch, Collect, Origin};
    ///
    /// struct Writer { file: Vec<u8>, error: Option<io::Error> }
    ///
    /// impl Collect for Writer {
    ///     fn batch(&mut self, _: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
    ///         match io::Write::write_all(&mut self.file, batch.names()) {
    ///             Ok(()) => ControlFlow::Continue(()),
    ///             Err(error) => {
    ///                 self.error = Some(error);
    ///                 ControlFlow::Break(())
    ///             }
    ///         }
    ///     }
    ///     fn take_error(&mut self) -> Option<io::Error> {
    ///         self.error.take()
    ///     }
    /// }
    /// ```
    fn take_error(&mut self) -> Option<io::Error> {
        None
    }
}

/// A sink that the caller keeps.
impl<S: Sink + ?Sized> Sink for &S {
    type State = S::State;
    type Output = S::Output;

    fn fields(&self) -> Fields {
        (**self).fields()
    }

    fn states(&self, context: &Context, count: usize) -> Vec<S::State> {
        (**self).states(context, count)
    }

    fn merge(&self, context: &Context, states: Vec<S::State>) -> S::Output {
        (**self).merge(context, states)
    }
}

macro_rules! together {
    ($($sink:ident $index:tt),+) => {
        /// Several sinks at once; each gets everything.
        impl<$($sink: Sink),+> Sink for ($($sink,)+) {
            type State = ($($sink::State,)+);
            type Output = ($($sink::Output,)+);

            fn fields(&self) -> Fields {
                Fields::NONE $(.union(self.$index.fields()))+
            }

            fn states(&self, context: &Context, count: usize) -> Vec<Self::State> {
                let mut apart = ($(self.$index.states(context, count).into_iter(),)+);
                std::iter::from_fn(|| Some(($(apart.$index.next()?,)+))).collect()
            }

            fn merge(&self, context: &Context, states: Vec<Self::State>) -> Self::Output {
                let mut apart = ($(Vec::<$sink::State>::with_capacity(states.len()),)+);
                for state in states {
                    $(apart.$index.push(state.$index);)+
                }
                ($(self.$index.merge(context, apart.$index),)+)
            }
        }

        impl<$($sink: Collect),+> Collect for ($($sink,)+) {
            fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
                $(self.$index.directory(directory)?;)+
                ControlFlow::Continue(())
            }

            fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
                $(self.$index.batch(origin, batch)?;)+
                ControlFlow::Continue(())
            }

            fn incomplete(&mut self, directory: &Directory<'_>) {
                $(self.$index.incomplete(directory);)+
            }

            fn finished(&mut self, directory: &Directory<'_>) {
                $(self.$index.finished(directory);)+
            }

            fn waiting(&mut self, directory: DirId, names: &mut dyn Iterator<Item = &[u8]>) {
                let names: Vec<&[u8]> = names.collect();
                $(self.$index.waiting(directory, &mut names.iter().copied());)+
            }

            fn gone(&mut self, directory: DirId, name: &[u8]) {
                $(self.$index.gone(directory, name);)+
            }

            fn listed(&mut self, directory: DirId, is_by_one_worker: bool) {
                $(self.$index.listed(directory, is_by_one_worker);)+
            }

            fn failed(&mut self, error: &EntryError) -> ControlFlow<()> {
                $(self.$index.failed(error)?;)+
                ControlFlow::Continue(())
            }

            fn take_error(&mut self) -> Option<io::Error> {
                None$(.or_else(|| self.$index.take_error()))+
            }
        }
    };
}

together!(A 0, B 1);
together!(A 0, B 1, C 2);
together!(A 0, B 1, C 2, D 3);

/// A sink that may be absent.
impl<S: Sink> Sink for Option<S> {
    type State = Option<S::State>;
    type Output = Option<S::Output>;

    fn fields(&self) -> Fields {
        self.as_ref().map_or(Fields::NONE, Sink::fields)
    }

    fn states(&self, context: &Context, count: usize) -> Vec<Self::State> {
        match self {
            Some(sink) => sink.states(context, count).into_iter().map(Some).collect(),
            None => (0..count).map(|_| None).collect(),
        }
    }

    fn merge(&self, context: &Context, states: Vec<Self::State>) -> Self::Output {
        let states = states.into_iter().flatten().collect();
        self.as_ref().map(|sink| sink.merge(context, states))
    }
}

impl<C: Collect> Collect for Option<C> {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        self.as_mut().map_or(ControlFlow::Continue(()), |state| {
            state.directory(directory)
        })
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        self.as_mut().map_or(ControlFlow::Continue(()), |state| {
            state.batch(origin, batch)
        })
    }

    fn incomplete(&mut self, directory: &Directory<'_>) {
        if let Some(state) = self {
            state.incomplete(directory);
        }
    }

    fn finished(&mut self, directory: &Directory<'_>) {
        if let Some(state) = self {
            state.finished(directory);
        }
    }

    fn waiting(&mut self, directory: DirId, names: &mut dyn Iterator<Item = &[u8]>) {
        if let Some(state) = self {
            state.waiting(directory, names);
        }
    }

    fn gone(&mut self, directory: DirId, name: &[u8]) {
        if let Some(state) = self {
            state.gone(directory, name);
        }
    }

    fn listed(&mut self, directory: DirId, is_by_one_worker: bool) {
        if let Some(state) = self {
            state.listed(directory, is_by_one_worker);
        }
    }

    fn failed(&mut self, error: &EntryError) -> ControlFlow<()> {
        self.as_mut()
            .map_or(ControlFlow::Continue(()), |state| state.failed(error))
    }

    fn take_error(&mut self) -> Option<io::Error> {
        self.as_mut().and_then(Collect::take_error)
    }
}
