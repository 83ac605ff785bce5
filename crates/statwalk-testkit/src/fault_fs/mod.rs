// SPDX-License-Identifier: MIT OR Apache-2.0

//! A synthetic FUSE file system that misbehaves on request, for tests of
//! scans of a file system that is slow, broken or changing.
//!
//! [`FaultFs::builder`] describes a tree and its faults, `mount` gives a guard
//! with the path, the counters of requests and the release of calls that
//! hang. All of it is seeded: nothing depends on the clock but the latencies.
//!
//! The kernel checks no permissions on it, so that `EACCES` by a rule strikes
//! root too.
//!
//! Linux only, needs `/dev/fuse` and `fusermount3`; other users than root need
//! fusectl mounted on `/sys/fs/fuse/connections` too, as it usually is.
//!
//! ```
//! use rustix::io::Errno;
//! use statwalk_testkit::fault_fs::{FaultFs, Op, When};
//!
//! let fs = FaultFs::builder()
//!     .entries("a/\n a/x 100\n a/l -> x")
//!     .files("many", 1000, 10)
//!     .fail("a/x", Op::Getattr, Errno::IO, When::Always)
//!     .fail_readdir_after("many", 500, Errno::IO, When::Always);
//! assert_eq!(fs.expected().entries, 1005);
//! match fs.mount() {
//!     Ok(mount) => {
//!         assert!(std::fs::symlink_metadata(mount.join("a/x")).is_err());
//!         assert_eq!(mount.counts().faults, 1);
//!     }
//!     Err(skipped) => skipped.report(),
//! }
//! ```

pub use self::builder::{FaultFs, FaultFsBuilder, Uniform};
pub use self::counts::Counts;
pub use self::disk::Disk;
pub use self::mount::FaultMount;
pub use self::rules::{Changes, Hang, Latency, Op, Repetition, When, Where};

mod answer;
mod builder;
mod counts;
mod disk;
mod edits;
mod mount;
mod rules;
mod run;
mod server;
mod tree;
mod wire;
