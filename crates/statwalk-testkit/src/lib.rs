// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tools to test statwalk: trees, the answers to expect of them, and faults.
//!
//! Only tests depend on this crate, and it does not depend on the engine, so that an
//! error in the engine cannot agree with itself. Its answers come from the description
//! of a tree ([`model`]) or from plain recursion over `std::fs` ([`naive`]).
//!
//! A test chooses a tree ([`trees`], [`strategy`], [`generator`] for big ones) and
//! makes it in a [`Scratch`] directory. The directory may lie on a file system of its
//! own ([`mounts`]), and the test may run as an ordinary user ([`unprivileged`]). The
//! test scans the tree, and compares with the model where it can and with the oracle
//! where it must. A test that a machine cannot run is [`Skipped`], with a reason.
//!
//! ```
//! use statwalk_testkit::{Scratch, naive, trees};
//!
//! let scratch = Scratch::new()?;
//! let tree = trees::basic();
//! let dir = scratch.path().join("tree");
//! tree.materialise(&dir)?;
//! let report = naive::scan(&dir)?;
//! assert_eq!(report.total().totals(), tree.totals());
//! assert_eq!(report.relative_entries(0), tree.entries());
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod model;
pub mod text;
pub mod trees;

pub mod strategy;

mod random;

pub mod generator;

mod limit;

pub mod attack;

#[cfg(target_os = "linux")]
pub mod removal_trial;

pub mod naive;

mod remove_tree;
mod scratch;

pub mod mounts;

#[cfg(target_os = "linux")]
pub mod automount;

#[cfg(target_os = "linux")]
pub mod ext4_images;

#[cfg(all(target_os = "linux", feature = "fault-fs"))]
pub mod fault_fs;

pub mod program;
#[cfg(feature = "terminal")]
pub mod terminal;
pub mod unprivileged;

mod skipped;

pub use limit::{is_within, slowness, stretched};
pub use model::{EntryType, Model, Totals};
pub use random::Random;
pub use remove_tree::remove_tree;
pub use scratch::{Scratch, settle};
pub use skipped::Skipped;
