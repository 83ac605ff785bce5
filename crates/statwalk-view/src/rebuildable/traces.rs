// SPDX-License-Identifier: MIT OR Apache-2.0

//! Traces: the names that rules ask for, as far as a directory holds them.
//!
//! A scan asks for each name whether it is one. So the length with the first and the last
//! byte answers for nearly all.

use std::ops::BitOrAssign;
use std::sync::LazyLock;

use super::rule::Need;
use super::table::RULES;

/// The files of version control: people work in a directory that holds one.
pub(super) const PERSONAL: &str = ".git .hg .svn .jj .bzr";

/// The names that a directory holds, of those that rules ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traces(u128);

/// The kind of an entry with such a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else: it proves nothing, and can speak against a rule.
    Other,
}

/// The traces that an entry of one name leaves.
#[derive(Clone, Copy, Default)]
struct Marks {
    /// As a file.
    file: Traces,
    /// As a directory.
    directory: Traces,
    /// Whatever it is.
    any: Traces,
}

/// All names.
struct Known {
    /// By the first byte, a bit for each length.
    begun: [u64; 256],
    /// The same by the last byte.
    ended: [u64; 256],
    /// By the first byte. So few begin alike that a hash would cost more.
    names: [Vec<(&'static [u8], Marks)>; 256],
}

static KNOWN: LazyLock<Known> = LazyLock::new(Known::new);

impl Known {
    fn new() -> Known {
        let mut known = Known {
            begun: [0; 256],
            ended: [0; 256],
            names: [const { Vec::new() }; 256],
        };
        known.add_all(PERSONAL, true);
        for need in RULES.iter().flat_map(|rule| &rule.needs) {
            match need {
                Need::Beside(names) | Need::Inside(names) => known.add_all(names, false),
                Need::Without(names) | Need::WithoutBelow(names) => known.add_all(names, true),
                Need::ValidTag => {}
            }
        }
        known
    }

    fn add_all(&mut self, names: &'static str, is_any: bool) {
        for name in names.split(' ') {
            let all = self.names.iter().flatten();
            let all = all.flat_map(|(_, marks)| [marks.file, marks.directory, marks.any]);
            let next = Traces(1 << all.filter(|traces| !traces.is_none()).count());
            let (name, is_directory) = of_kind(name);
            let (first, last) = (usize::from(name[0]), usize::from(name[name.len() - 1]));
            self.begun[first] |= 1 << name.len();
            self.ended[last] |= 1 << name.len();
            let same = &mut self.names[first];
            let place = same.iter().position(|(known, _)| *known == name);
            let place = place.unwrap_or_else(|| {
                same.push((name, Marks::default()));
                same.len() - 1
            });
            let marks = &mut same[place].1;
            let mark = match (is_any, is_directory) {
                (true, _) => &mut marks.any,
                (false, true) => &mut marks.directory,
                (false, false) => &mut marks.file,
            };
            if mark.is_none() {
                *mark = next;
            }
        }
    }

    fn marks(&self, name: &[u8]) -> Option<&Marks> {
        let same = &self.names[usize::from(*name.first()?)];
        let found = same.iter().find(|(known, _)| *known == name);
        found.map(|(_, marks)| marks)
    }

    #[inline(never)]
    fn traces(&self, name: &[u8], kind: TraceKind) -> Traces {
        let Some(marks) = self.marks(name) else {
            return Traces::NONE;
        };
        let mut traces = marks.any;
        match kind {
            TraceKind::File => traces |= marks.file,
            TraceKind::Directory => traces |= marks.directory,
            TraceKind::Other => {}
        }
        traces
    }
}

/// A name, and whether it is that of a directory.
fn of_kind(name: &'static str) -> (&'static [u8], bool) {
    match name.strip_suffix('/') {
        Some(name) => (name.as_bytes(), true),
        None => (name.as_bytes(), false),
    }
}

impl Traces {
    /// Nothing that a rule asks for.
    pub const NONE: Traces = Traces(0);

    /// The directory was not read whole, so that any name can lie in it.
    pub const UNREAD: Traces = Traces(1 << 127);

    /// The traces of an entry.
    #[inline]
    #[must_use]
    pub fn of(name: &[u8], kind: TraceKind) -> Traces {
        let known = &*KNOWN;
        let lengths = match (name.first(), name.last()) {
            (Some(&first), Some(&last)) => {
                known.begun[usize::from(first)] & known.ended[usize::from(last)]
            }
            _ => 0,
        };
        match name.len() < 64 && lengths >> name.len() & 1 == 1 {
            true => known.traces(name, kind),
            false => Traces::NONE,
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Traces::NONE
    }

    /// Whether the directory was not read whole.
    #[must_use]
    pub fn is_unread(self) -> bool {
        self.meets(Traces::UNREAD)
    }

    /// Whether both have one in common.
    pub(super) fn meets(self, other: Traces) -> bool {
        self.0 & other.0 != 0
    }

    /// The traces of these names as files, or with a slash as directories.
    pub(super) fn of_all(names: &'static str) -> Traces {
        let mut all = Traces::NONE;
        for (name, is_directory) in names.split(' ').map(of_kind) {
            let marks = KNOWN.marks(name).expect("every name of a rule is known");
            all |= match is_directory {
                true => marks.directory,
                false => marks.file,
            };
        }
        all
    }

    /// The traces of these names, whatever has them.
    pub(super) fn of_any(names: &'static str) -> Traces {
        let mut all = Traces::NONE;
        for (name, _) in names.split(' ').map(of_kind) {
            let marks = KNOWN.marks(name).expect("every name of a rule is known");
            all |= marks.any;
        }
        all
    }
}

impl BitOrAssign for Traces {
    fn bitor_assign(&mut self, other: Traces) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_bit_for_each_name() {
        let known = &*KNOWN;
        let names = known.names.iter().flatten();
        let all = names.clone();
        let all = all.flat_map(|(_, marks)| [marks.file, marks.directory, marks.any]);
        let all: Vec<_> = all.filter(|traces| !traces.is_none()).collect();
        let union = all.iter().fold(0, |sum, traces| sum | traces.0);
        assert_eq!(union.count_ones() as usize, all.len());
        assert!(!Traces(union).is_unread(), "no room beside the last bit");
        assert!(names.clone().all(|(name, _)| (1..64).contains(&name.len())));
        for (name, _) in names {
            let kinds = [TraceKind::File, TraceKind::Directory, TraceKind::Other];
            let mut found = kinds.map(|kind| Traces::of(name, kind)).into_iter();
            assert!(
                found.any(|traces| !traces.is_none()),
                "{name:?} is not found"
            );
        }
    }

    #[test]
    fn a_trace_depends_on_the_kind_of_its_entry() {
        let file = Traces::of_all("Cargo.toml");
        assert!(Traces::of(b"Cargo.toml", TraceKind::File).meets(file));
        for kind in [TraceKind::Directory, TraceKind::Other] {
            assert!(!Traces::of(b"Cargo.toml", kind).meets(file));
        }
        let own = Traces::of_any(".git");
        for kind in [TraceKind::File, TraceKind::Directory, TraceKind::Other] {
            assert_eq!(Traces::of(b".git", kind), own);
        }
        for name in [
            &b""[..],
            b"Cargo.tomm",
            b"cargo.toml",
            b"Cargo.toml ",
            &[0xff; 300],
        ] {
            assert!(Traces::of(name, TraceKind::File).is_none());
        }
    }
}
