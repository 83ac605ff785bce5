// SPDX-License-Identifier: MIT OR Apache-2.0

//! Scans directory trees, with the attributes of every entry, as fast as the
//! machine allows.
//!
//! From the top: a [`Scan`] says what to read and feeds a [`Sink`], which folds the
//! entries into an answer. The answer comes with a [`Report`] of what was read, what
//! was not, and why.
//!
//! ```
//! use statwalk_core::{Scan, Totals};
//!
//! let outcome = Scan::new(".").run(&Totals::new())?;
//! let here = &outcome.output[0];
//! println!("{} entries, {:?}", here.entries, here.sizes);
//! assert!(outcome.report.is_complete());
//! # Ok::<(), statwalk_core::Error>(())
//! ```
//!
//! Sinks of this crate: [`Totals`], [`TreeSink`], [`Top`], [`Stats`] and [`LiveTree`].
//! `new` takes what a sink needs; `with_…` and `without_…` change an option. A sink of your
//! own sees the same batches: see [`Sink`] and `examples/custom_sink.rs`. [`Replay`] drives
//! any sink from rows that were stored.
//!
//! An entry that cannot be read is no error of a scan but part of its answer.
//! Names are bytes. A field that is not known is absent, never zero.

// What only sources use has no user where there is no source.
#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports))]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "linux")]
pub use linux::in_place;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
use elsewhere as system;

mod attribute_columns;
mod batch;
mod bits;
mod calls;
mod chunks;
mod column_table;
mod columns;
mod dir_handle;
mod directory;
mod entries;
mod entry;
mod error;
mod exclusion;
mod failure;
mod fields;
mod fold;
mod gather;
mod handle;
mod inode_numbers;
mod inode_set;
mod known_dirs;
mod listing;
mod lock;
mod machine;
mod order;
mod ordered_rows;
mod parts;
mod path;
mod per_root;
mod plan;
mod progress;
mod reason;
mod replay;
mod report;
mod rows;
mod running;
mod scan;
mod sequence;
#[cfg(test)]
mod simulation;
mod sink;
mod skipped_dirs;
mod sorted_rows;
mod source;
mod tally;
mod threads;
mod time;
mod unfinished;

/// Options that change the system calls of a scan, or their order, and never its answer,
/// to be compared by `statwalk bench`.
///
/// The promise of stability does not hold for this module: an option goes when
/// nobody can measure a gain from it.
pub mod tuning {
    pub use crate::calls::{Calls, Freshness, Sharing, StatOrder, TypeSource};
    pub use crate::order::AnyOrder;
}

pub use attribute_columns::{AttributeColumns, OddTime, Refusal};
pub use batch::{Batch, EntryRef};
pub use bits::Bits;
pub use column_table::{Column, ColumnKind, Values};
pub use columns::{Columns, Directories, DirectoryRow};
pub use directory::{DirState, Directory, Origin, Subdirectory};
pub use entries::{Entries, Entry};
pub use entry::{Attributes, DirId, FileId, FileType};
pub use error::{Cause, EntryError, Errno, Error, Op};
pub use exclusion::Exclusions;
pub use fields::Fields;
pub use gather::{Fill, Found, Gathered, Next};
pub use order::Order;
pub use ordered_rows::OrderedRows;
pub use plan::Plan;
pub use progress::Progress;
pub use reason::{NotInPlace, Obstacle, Reason};
pub use replay::{Replay, ReplayError};
pub use report::{LeftOut, Outcome, Report, RootReport};
pub use rows::{GatheredRows, Rows};
pub use running::{Canceller, Running};
pub use scan::{IoClass, KernelFileSystems, MountCrossing, Scan, SymlinkPolicy};
pub use sequence::Sequence;
pub use sink::{
    Collect, Context, CountedInodes, Largest, LinkPolicy, LiveDir, LiveState, LiveTree, Node,
    NodeId, NodeKind, RootSizes, RootTotals, Sink, Stats, StatsGroup, StatsState, Tally, Top,
    TopOf, TopState, Totals, TotalsState, Tree, TreeFile, TreeSink, TreeState, path_order,
};
pub use skipped_dirs::SkippedDirs;
pub use source::choice::{Source, SyncPolicy};
pub use source::memory::{MemoryEntry, MemoryTree, MemoryTreeError};

pub use statwalk_format::{Generation, NoGeneration, Uuid};
pub use statwalk_group::{Category, Endings, Extension, GroupKey, Grouping, SizeHistogram};
pub use time::Time;
