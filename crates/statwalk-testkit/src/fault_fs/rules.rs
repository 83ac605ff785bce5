// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rules by which a [`FaultFs`](super::FaultFs) misbehaves, and finding
//! those that hold for an object.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;

use super::tree::Tree;
use crate::model::EntryType;

/// An operation as it reaches the file system.
///
/// With cache times of 0 a `stat` by path is a [`Lookup`](Op::Lookup) for every
/// component below the mount and one [`Getattr`](Op::Getattr). An `open` of a directory
/// is lookups and one [`Opendir`](Op::Opendir), a `getdents64` is one
/// [`Readdir`](Op::Readdir). A `statx` with `AT_STATX_DONT_SYNC` is satisfied with the
/// answer of the lookup: no [`Getattr`](Op::Getattr) arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `FUSE_LOOKUP`; a rule's path is that of the name looked up.
    Lookup,
    /// `FUSE_GETATTR`, from `stat`, `statx` and `fstat`.
    Getattr,
    /// `FUSE_OPENDIR`
    Opendir,
    /// `FUSE_READDIR`
    Readdir,
    /// `FUSE_OPEN`, of a file.
    Open,
    /// `FUSE_READ`, of a file with a text.
    Read,
    /// `FUSE_WRITE`. Written data is forgotten.
    Write,
    /// `FUSE_UNLINK`; a rule's path is that of the name that goes.
    Unlink,
    /// `FUSE_RMDIR`, as above.
    Rmdir,
    /// `FUSE_RENAME2`; a rule's path is that of the name before.
    Rename,
}

/// Where a rule holds. A path, relative to the mount, becomes one by `into()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// For every object.
    Everywhere,
    /// For the entry of this path, and not for those below it.
    At(PathBuf),
}

impl From<&str> for Where {
    fn from(path: &str) -> Where {
        Where::At(path.into())
    }
}

impl From<&Path> for Where {
    fn from(path: &Path) -> Where {
        Where::At(path.into())
    }
}

impl From<PathBuf> for Where {
    fn from(path: PathBuf) -> Where {
        Where::At(path)
    }
}

/// How often a rule strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At every call.
    Always,
    /// At the first so many calls for each object, and never again.
    First(u32),
    /// At every call, for one object in `n`, chosen by the seed alone: the same
    /// objects in each run, whatever the order of the calls.
    OneIn {
        /// 1 is every object.
        n: u64,
        /// Another seed chooses other objects.
        seed: u64,
    },
}

/// The frequency of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// The first so many times, then it holds still.
    First(u32),
    /// Each time.
    Forever,
}

impl Changes {
    /// The changes made once it has been looked at `times` times.
    pub(super) fn after(self, times: u32) -> u32 {
        match self {
            Changes::First(most) => times.min(most),
            Changes::Forever => times,
        }
    }
}

/// Which names of a directory its listing gives again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// Each name comes twice, one beside the other.
    Beside,
    /// All names come a second time after the last one.
    Again,
    /// All names come again and again, without end.
    Forever,
}

/// How long a call takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// Always the same.
    Fixed(Duration),
    /// Evenly distributed; the seed gives the sequence.
    Between {
        /// The shortest.
        least: Duration,
        /// The longest.
        most: Duration,
        /// Another seed gives another sequence.
        seed: u64,
    },
}

/// The end of a call that hangs, besides
/// [`FaultMount::release`](super::FaultMount::release).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hang {
    /// A signal to the waiting thread: the call fails with `EINTR`. A kill
    /// works, as with a hard NFS mount whose server is away.
    UntilSignal,
    /// Nothing: the thread cannot be killed (state D).
    UntilReleased,
}

/// One rule. Those for attributes, listings and calls are matched by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Fail {
        op: Op,
        errno: Errno,
        when: When,
        after_entries: u64,
    },
    Latency {
        op: Option<Op>,
        latency: Latency,
    },
    Hang {
        op: Op,
        hang: Hang,
    },
    UnknownTypes,
    NulBefore,
    Vanishes {
        op: Op,
    },
    Replaced {
        by: EntryType,
        after_lookups: u32,
    },
    AttributesChange(Changes),
    NumbersMove,
    TimesMove,
    Grows {
        entries_per_listing: u64,
        changes: Changes,
    },
    Repeats(Repetition),
}

/// The index of a rule, which stands for it in the counts.
pub(super) type RuleId = usize;

/// All rules, by object.
///
/// A rule for a path comes before those for everywhere, and among equals the
/// one that was given first.
#[derive(Debug, Default)]
pub(super) struct RuleBook {
    at: HashMap<u64, Vec<(RuleId, Rule)>>,
    everywhere: Vec<(RuleId, Rule)>,
}

impl RuleBook {
    /// # Panics
    ///
    /// Panics if a rule names a path that is not in the tree.
    pub(super) fn new(rules: Vec<(Where, Rule)>, tree: &Tree) -> RuleBook {
        let mut book = RuleBook::default();
        for (id, (place, rule)) in rules.into_iter().enumerate() {
            match place {
                Where::Everywhere => book.everywhere.push((id, rule)),
                Where::At(path) => {
                    let Some(ino) = tree.find(&path) else {
                        panic!("a rule names {}, which is not in the tree", path.display());
                    };
                    book.at.entry(ino).or_default().push((id, rule));
                }
            }
        }
        book
    }

    pub(super) fn of(&self, ino: u64) -> impl Iterator<Item = (RuleId, Rule)> + '_ {
        self.at
            .get(&ino)
            .into_iter()
            .flatten()
            .chain(&self.everywhere)
            .copied()
    }
}

/// Which calls a rule has struck, and the seeded sequences.
#[derive(Debug, Default)]
pub(super) struct RuleState {
    /// Only for [`When::First`]: an endless directory must not fill it.
    struck: HashMap<(RuleId, u64), u32>,
    sequences: HashMap<RuleId, u64>,
}

impl RuleState {
    /// Whether the rule strikes this time; counts it.
    pub(super) fn strikes(&mut self, id: RuleId, when: When, ino: u64) -> bool {
        match when {
            When::Always => true,
            When::First(most) => {
                let struck = self.struck.entry((id, ino)).or_default();
                *struck += 1;
                *struck <= most
            }
            When::OneIn { n, seed } => mixed(seed ^ mixed(ino)).is_multiple_of(n),
        }
    }

    /// Whether the rule would strike; counts nothing.
    pub(super) fn would_strike(&self, id: RuleId, when: When, ino: u64) -> bool {
        match when {
            When::First(most) => self
                .struck
                .get(&(id, ino))
                .is_none_or(|struck| *struck < most),
            When::Always => true,
            When::OneIn { n, seed } => mixed(seed ^ mixed(ino)).is_multiple_of(n),
        }
    }

    /// The next duration of a latency rule.
    pub(super) fn duration(&mut self, id: RuleId, latency: Latency) -> Duration {
        match latency {
            Latency::Fixed(duration) => duration,
            Latency::Between { least, most, seed } => {
                let state = self.sequences.entry(id).or_insert(seed);
                *state = state.wrapping_add(1);
                let share = mixed(*state) as f64 / u64::MAX as f64;
                least + most.saturating_sub(least).mul_f64(share)
            }
        }
    }
}

/// The output function of splitmix64 (Steele, Lea and Flood, 2014).
fn mixed(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_for_a_path_comes_first() {
        let mut tree = Tree::new();
        tree.make_dir(Path::new("a"));
        let general = Rule::AttributesChange(Changes::Forever);
        let own = Rule::AttributesChange(Changes::First(1));
        let rules = vec![(Where::Everywhere, general), (Where::from("a"), own)];
        let book = RuleBook::new(rules, &tree);
        let ino = tree.find(Path::new("a")).unwrap();
        assert_eq!(book.of(ino).collect::<Vec<_>>(), [(1, own), (0, general)]);
        assert_eq!(book.of(ino + 1).collect::<Vec<_>>(), [(0, general)]);
    }

    #[test]
    fn first_counts_for_each_object() {
        let mut state = RuleState::default();
        let struck: Vec<_> = [5, 5, 5, 6]
            .map(|ino| state.strikes(0, When::First(2), ino))
            .into();
        assert_eq!(struck, [true, true, false, true]);
    }

    #[test]
    fn one_in_n_is_about_that_and_stays_the_same() {
        let chosen = |seed| {
            let mut state = RuleState::default();
            (0..10_000)
                .filter(|ino| state.strikes(0, When::OneIn { n: 10, seed }, *ino))
                .collect::<Vec<_>>()
        };
        assert!(
            (900..1100).contains(&chosen(1).len()),
            "{}",
            chosen(1).len()
        );
        assert_eq!(chosen(1), chosen(1));
        assert_ne!(chosen(1), chosen(2));
    }

    #[test]
    fn variable_latency_stays_in_its_range_and_varies() {
        let mut state = RuleState::default();
        let (least, most) = (Duration::from_millis(2), Duration::from_millis(4));
        let latency = Latency::Between {
            least,
            most,
            seed: 1,
        };
        let drawn: Vec<_> = (0..1000).map(|_| state.duration(0, latency)).collect();
        assert!(
            drawn
                .iter()
                .all(|duration| (least..=most).contains(duration))
        );
        let middle = Duration::from_millis(3);
        let short = drawn.iter().filter(|duration| **duration < middle).count();
        assert!(
            (400..600).contains(&short),
            "{short} of 1000 are below the middle"
        );
    }
}
