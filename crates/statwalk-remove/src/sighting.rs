// SPDX-License-Identifier: MIT OR Apache-2.0

//! An item as it was at one moment.

use crate::item::Item;
use crate::recognition::Recognition;
use crate::seen::Seen;

/// The facts of a scan about an entry that is no directory; each can be absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The length.
    pub bytes: Option<u64>,
    /// The modification time, in nanoseconds since 1970.
    pub mtime_ns: Option<i64>,
    /// The time when the scan began, in nanoseconds since 1970.
    pub begin_ns: Option<i64>,
}

/// The state of an entry against the reading of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Length and modification time are those of the scan, where both know them.
    AsRead,
    /// One of them is another. The entry was written to, or an older one took its place.
    Changed,
    /// The entry was made after the scan began, and is another one than the scan has read.
    Replaced,
}

/// The facts by which a marked item is known again.
#[derive(Clone, Debug)]
pub struct Sighting {
    path: Vec<u8>,
    directory: Seen,
    seen: Seen,
    recognition: Recognition,
}

impl Sighting {
    pub(crate) fn new(
        path: Vec<u8>,
        directory: Seen,
        seen: Seen,
        recognition: Recognition,
    ) -> Sighting {
        Sighting {
            path,
            directory,
            seen,
            recognition,
        }
    }

    /// The absolute path without links.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Says whether the inode numbers of its file system move, so that the item is known by
    /// its name, its type and its mount.
    #[must_use]
    pub fn is_known_by_name(&self) -> bool {
        self.recognition == Recognition::Name
    }

    /// Says whether both are the same inode in the same directory. Its content and its
    /// times can differ. Where inode numbers move, name, type and mount tell.
    #[must_use]
    pub fn is_same_item(&self, other: &Sighting) -> bool {
        let by = match self.is_known_by_name() {
            true => self.recognition,
            false => other.recognition,
        };
        by.is_same(&self.seen, &other.seen) && by.is_same(&self.directory, &other.directory)
    }

    /// Compares an entry that is no directory with the reading of a scan.
    ///
    /// A scan can have read a file that was made while it went on, and that has changed since.
    /// Its modification time then is no older than its creation. So two conditions make a
    /// file another one. Its creation follows the beginning of the scan. It also follows the
    /// modification time that the scan has read: both are of the clock of the file system.
    #[must_use]
    pub fn freshness(&self, reading: &Reading) -> Freshness {
        let identity = &self.seen.identity;
        let mtime_ns = nanoseconds((identity.mtime_s, identity.mtime_ns));
        let is_other = |known: Option<i64>, now: Option<i64>| {
            known.is_some_and(|known| now.is_some_and(|now| known != now))
        };
        let has_other_bytes =
            (reading.bytes).is_some_and(|bytes| bytes != self.seen.apparent_bytes);
        if self.seen.is_directory() || !(has_other_bytes || is_other(reading.mtime_ns, mtime_ns)) {
            return Freshness::AsRead;
        }
        let born_ns = self.seen.born.and_then(nanoseconds);
        let is_after =
            |time: Option<i64>| born_ns.is_some_and(|born| time.is_some_and(|time| born > time));
        match is_after(reading.begin_ns) && is_after(reading.mtime_ns) {
            true => Freshness::Replaced,
            false => Freshness::Changed,
        }
    }

    /// The item, for a survey and a removal.
    #[must_use]
    pub fn into_item(self) -> Item {
        Item::seen(self.path, &self.directory, &self.seen, self.recognition)
    }
}

/// Absent before 1677 and after 2262.
fn nanoseconds((seconds, nanoseconds): (i64, u32)) -> Option<i64> {
    let whole = seconds.checked_mul(1_000_000_000)?;
    whole.checked_add(i64::from(nanoseconds))
}
