// SPDX-License-Identifier: MIT OR Apache-2.0

//! The facts about one name: its type, its identity, its attributes.
//!
//! Plain data. Nothing here reads a file system.

use std::cmp::Ordering;
use std::fmt;
use std::time::{Duration, SystemTime};

pub use statwalk_format::FileType;

use crate::column_table::with_numbers;
use crate::fields::Fields;
use crate::time::{ALL_TIMES, TOO_EARLY, Time, is_time, mark_of, nanoseconds_of};

/// Identifies an inode: two names with the same value are the same file.
///
/// Inode numbers repeat across devices, and every btrfs subvolume has inode
/// 256, so the device is part of it.
///
/// [`ino`](Self::ino) has 128 bits, because some file systems number files so. All
/// sources of today have 64, and so does the memory behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
}

impl FileId {
    /// The inode of a number on a device.
    #[must_use]
    pub fn new(dev: u64, ino: u64) -> FileId {
        FileId { dev, ino }
    }

    /// `st_dev`.
    #[must_use]
    pub fn dev(self) -> u64 {
        self.dev
    }

    /// `st_ino`.
    #[must_use]
    pub fn ino(self) -> u128 {
        u128::from(self.ino)
    }
}

/// Names a directory within one scan.
///
/// Numbers are handed to workers in blocks, so they are nearly dense, and a
/// directory's number says nothing about its depth or its parent's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DirId(pub(crate) u32);

impl DirId {
    /// How many consecutive numbers one worker takes at a time.
    pub const BLOCK: u32 = 1024;
    /// How many blocks there are. The highest numbers are left: one is
    /// [`NONE_LEFT`](Self::NONE_LEFT), and sinks have a use for another.
    pub(crate) const BLOCKS: u32 = u32::MAX / DirId::BLOCK;
    /// The number of a directory for which none was left. The directory is not
    /// delivered.
    pub(crate) const NONE_LEFT: DirId = DirId(u32::MAX - 1);

    /// The number, for use as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The number from an index of [`index`](Self::index); absent where it is larger than
    /// all numbers.
    #[must_use]
    pub fn from_index(index: usize) -> Option<DirId> {
        u32::try_from(index).ok().map(DirId)
    }
}

macro_rules! attributes {
    ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident $name:literal
        $(, $with:ident)?;)+) => {
        /// The attributes of one entry, as one stat gives them.
        ///
        /// [`valid`](Self::valid) says which fields are known; the others hold
        /// nothing of meaning. The accessors return `None` for them.
        ///
        /// A scan makes them. Tests, and programs that read a stored scan, begin with
        /// [`of_type`](Self::of_type) and add the fields that they know by `with_…`.
        ///
        /// ```
        /// use statwalk_core::{Attributes, FileId, FileType, Time};
        ///
        /// let attributes = Attributes::of_type(FileType::File)
        ///     .with_size_bytes(70)
        ///     .with_id(FileId::new(2049, 12))
        ///     .with_time(Time::Modified, -1, 500_000_000);
        /// assert_eq!(attributes.mtime_ns(), Some(-500_000_000));
        /// assert_eq!(attributes.links(), None);
        /// ```
        #[derive(Clone, Copy)]
        pub struct Attributes {
            /// Which fields are known.
            pub valid: Fields,
            /// The type.
            pub kind: FileType,
            /// A bit for each time, in their order: whether it has seconds, because
            /// nanoseconds do not hold it. The struct is not larger for it.
            pub(crate) odd: u8,
            pub(crate) id: FileId,
            pub(crate) times_ns: [i64; 4],
            $(pub(crate) $value: $type,)+
        }

        impl Attributes {
            /// Attributes of which only the type is known.
            #[must_use]
            pub const fn of_type(kind: FileType) -> Attributes {
                Attributes {
                    valid: Fields::TYPE,
                    kind,
                    odd: 0,
                    id: FileId { dev: 0, ino: 0 },
                    times_ns: [0; 4],
                    $($value: 0,)+
                }
            }

            $(
                $(#[$doc])*
                #[must_use]
                pub fn $value(&self) -> Option<$type> {
                    self.valid.contains(Fields::$field).then_some(self.$value)
                }

                $(
                    #[doc = concat!("The same with a value of [`", stringify!($value),
                        "`](Self::", stringify!($value), ").")]
                    #[must_use]
                    pub fn $with(mut self, value: $type) -> Attributes {
                        self.$value = value;
                        self.valid |= Fields::$field;
                        self
                    }
                )?
            )+
        }

        /// The known fields alone: the others hold nothing of meaning.
        impl fmt::Debug for Attributes {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut attributes = f.debug_struct("Attributes");
                attributes.field("kind", &self.kind);
                $(if let Some(value) = self.$value() {
                    match Fields::$field == Fields::MODE {
                        true => attributes.field("mode", &format_args!("{value:#o}")),
                        false => attributes.field(stringify!($value), &value),
                    };
                })+
                if let Some(id) = self.id() {
                    attributes.field("id", &id);
                }
                for time in Time::ALL {
                    if let Some(ns) = self.time_ns(time) {
                        attributes.field(&format!("{}_ns", time.name()), &ns);
                    }
                }
                attributes.finish_non_exhaustive()
            }
        }
    };
}

with_numbers!(attributes);

impl Attributes {
    /// The same with no more than the wanted fields and the type.
    pub(crate) fn narrowed(self, wanted: Fields) -> Attributes {
        Attributes {
            valid: self.valid.intersection(wanted) | Fields::TYPE,
            ..self
        }
    }

    /// The same for an entry whose bytes belong to another one.
    pub(crate) fn without_bytes(self) -> Attributes {
        Attributes {
            size_bytes: 0,
            allocated_bytes: 0,
            ..self
        }
    }

    /// Takes over nanoseconds of a time, or what stands for a time that they cannot hold.
    /// [`with_odd_times`](Self::with_odd_times) has the seconds then.
    // A call would cost a scan with times 2 % of its instructions (callgrind).
    #[inline]
    pub(crate) fn set_time_ns(&mut self, time: Time, ns: i64) {
        self.times_ns[time.index()] = ns;
        self.fit(time.field(), ns);
    }

    /// As [`set_time_ns`](Self::set_time_ns), of birth, where there is one.
    #[inline]
    pub(crate) fn set_birth_ns(&mut self, ns: Option<i64>) {
        self.set_time_ns(Time::Born, ns.unwrap_or(TOO_EARLY));
    }

    #[inline]
    fn fit(&mut self, field: Fields, ns: i64) {
        self.valid = match is_time(ns) {
            true => self.valid.union(field),
            false => self.valid.without(field),
        };
    }

    /// Adds the seconds of those wanted times that nanoseconds do not hold. `seconds` has
    /// them in the order of [`Time::ALL`]; absent where the file system keeps none.
    #[inline]
    pub(crate) fn with_odd_times(
        self,
        wanted: Fields,
        seconds: impl FnOnce() -> [Option<i64>; 4],
    ) -> Attributes {
        match self.valid.contains(wanted.intersection(ALL_TIMES)) {
            true => self,
            false => self.with_odd_s(wanted, seconds()),
        }
    }

    #[cold]
    #[inline(never)]
    fn with_odd_s(mut self, wanted: Fields, seconds: [Option<i64>; 4]) -> Attributes {
        for (time, seconds) in Time::ALL.into_iter().zip(seconds) {
            let field = time.field();
            if let Some(seconds) = seconds
                && wanted.contains(field)
                && !self.valid.contains(field)
            {
                self.set_odd_s(time, seconds);
            }
        }
        self
    }

    /// Takes over a time.
    #[inline]
    pub(crate) fn set_time(&mut self, time: Time, seconds: i64, nanoseconds: u32) {
        let ns = nanoseconds_of(seconds, nanoseconds);
        let is_odd = !is_time(ns);
        self.mark(time, is_odd);
        self.times_ns[time.index()] = if is_odd { seconds } else { ns };
    }

    /// Notes whether the field of a time has seconds.
    #[inline]
    fn mark(&mut self, time: Time, is_odd: bool) {
        self.odd |= u8::from(is_odd) << time.index();
        self.valid = match is_odd {
            true => self.valid.without(time.field()),
            false => self.valid.union(time.field()),
        };
    }

    /// Takes over the seconds of a time that nanoseconds do not hold.
    pub(crate) fn set_odd_s(&mut self, time: Time, seconds: i64) {
        self.mark(time, true);
        self.times_ns[time.index()] = seconds;
    }

    /// The seconds of a time that nanoseconds do not hold.
    pub(crate) fn odd_s(&self, time: Time) -> Option<i64> {
        let is_odd = self.odd & (1 << time.index()) != 0;
        is_odd.then_some(self.times_ns[time.index()])
    }

    /// The same with a device and an inode number.
    #[must_use]
    pub fn with_id(mut self, id: FileId) -> Attributes {
        self.id = id;
        self.valid |= Fields::ID;
        self
    }

    /// The same with a time: seconds since 1970, and nanoseconds after them. Where 64 bits of
    /// nanoseconds do not hold the time, its seconds stay.
    #[must_use]
    pub fn with_time(mut self, time: Time, seconds: i64, nanoseconds: u32) -> Attributes {
        self.odd &= !(1 << time.index());
        self.set_time(time, seconds, nanoseconds);
        self
    }

    /// The same with the last change of the content, as [`with_time`](Self::with_time).
    #[must_use]
    pub fn with_mtime(self, seconds: i64, nanoseconds: u32) -> Attributes {
        self.with_time(Time::Modified, seconds, nanoseconds)
    }

    /// The same with user and group id.
    #[must_use]
    pub fn with_owner(mut self, uid: u32, gid: u32) -> Attributes {
        (self.uid, self.gid) = (uid, gid);
        self.valid |= Fields::OWNER;
        self
    }

    /// The same with flags, and those bits of them that are known.
    #[must_use]
    pub fn with_flags(mut self, flags: u32, mask: u32) -> Attributes {
        (self.flags, self.flags_mask) = (flags, mask);
        self.valid |= Fields::FLAGS;
        self
    }

    /// How the last change of the content lies to a moment, in nanoseconds since 1970.
    ///
    /// Known also for times before 1677 and after 2262, of which
    /// [`mtime_ns`](Self::mtime_ns) is absent.
    #[must_use]
    pub fn mtime_order(&self, moment_ns: i64) -> Option<Ordering> {
        self.clamped_mtime_ns().map(|ns| ns.cmp(&moment_ns))
    }

    /// The same in nanoseconds since 1970, with what stands for times that do not fit.
    pub(crate) fn clamped_mtime_ns(&self) -> Option<i64> {
        (self.mtime_ns()).or_else(|| self.odd_s(Time::Modified).map(mark_of))
    }

    /// Last change of the content, as `std` has it; absent as [`mtime_ns`](Self::mtime_ns).
    ///
    /// ```
    /// use statwalk_core::{Fields, Scan};
    /// let mut entries = Scan::new("src").fields(Fields::MTIME).entries()?;
    /// for entry in &mut entries {
    ///     let entry = entry?;
    ///     let metadata = std::fs::symlink_metadata(entry.to_path_buf())?;
    ///     assert_eq!(entry.attributes().modified(), metadata.modified().ok());
    /// }
    /// assert!(entries.finish().is_complete());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn modified(&self) -> Option<SystemTime> {
        let ns = self.mtime_ns()?;
        let distance = Duration::from_nanos(ns.unsigned_abs());
        match ns < 0 {
            true => SystemTime::UNIX_EPOCH.checked_sub(distance),
            false => SystemTime::UNIX_EPOCH.checked_add(distance),
        }
    }

    /// Device and inode number.
    #[must_use]
    pub fn id(&self) -> Option<FileId> {
        self.valid.contains(Fields::ID).then_some(self.id)
    }

    /// A time in nanoseconds since 1970. Absent where it does not fit, too: before 1677 and
    /// after 2262.
    #[must_use]
    pub fn time_ns(&self, time: Time) -> Option<i64> {
        let is_known = self.valid.contains(time.field());
        is_known.then_some(self.times_ns[time.index()])
    }

    /// A time in whole seconds since 1970, rounded down. Known also before 1677 and after
    /// 2262, where [`time_ns`](Self::time_ns) is absent.
    ///
    /// ```
    /// use statwalk_core::{Attributes, FileType, Time};
    /// let year_2400 = Attributes::of_type(FileType::File).with_mtime(13_569_465_600, 5);
    /// assert_eq!(year_2400.time_ns(Time::Modified), None);
    /// assert_eq!(year_2400.time_s(Time::Modified), Some(13_569_465_600));
    /// ```
    #[must_use]
    pub fn time_s(&self, time: Time) -> Option<i64> {
        let seconds = self.time_ns(time).map(|ns| ns.div_euclid(1_000_000_000));
        seconds.or_else(|| self.odd_s(time))
    }

    /// The last change of the content, as [`time_ns`](Self::time_ns).
    #[must_use]
    pub fn mtime_ns(&self) -> Option<i64> {
        self.time_ns(Time::Modified)
    }

    /// The last change of the content, as [`time_s`](Self::time_s).
    #[must_use]
    pub fn mtime_s(&self) -> Option<i64> {
        self.time_s(Time::Modified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_not_valid_is_absent() {
        let mut attributes = Attributes::of_type(FileType::File);
        assert_eq!(attributes.size_bytes(), None);
        attributes.valid |= Fields::SIZE;
        assert_eq!(attributes.size_bytes(), Some(0));
        assert_eq!(attributes.mtime_ns(), None);
    }

    /// A field that nobody had asked for was printed as 0.
    #[test]
    fn debug_shows_the_known_fields_alone() {
        let mut attributes = Attributes::of_type(FileType::File);
        assert_eq!(format!("{attributes:?}"), "Attributes { kind: File, .. }");
        attributes.valid |= Fields::SIZE | Fields::MODE;
        attributes.mode = 0o100_644;
        assert_eq!(
            format!("{attributes:?}"),
            "Attributes { kind: File, size_bytes: 0, mode: 0o100644, .. }"
        );
    }

    #[test]
    fn a_time_that_does_not_fit_is_absent_and_has_its_order() {
        let mut attributes = Attributes::of_type(FileType::File);
        assert_eq!(attributes.mtime_order(0), None);
        assert_eq!(attributes.mtime_s(), None);
        for (seconds, ns, known, order) in [
            (0, 5, Some(5), Ordering::Greater),
            (i64::MIN, 0, None, Ordering::Less),
            (-9_223_372_037, 0, None, Ordering::Less),
            (9_223_372_037, 999_999_999, None, Ordering::Greater),
            // Its seconds alone would fit.
            (9_223_372_036, 854_775_807, None, Ordering::Greater),
            (-1, 999_999_999, Some(-1), Ordering::Less),
        ] {
            for time in Time::ALL {
                attributes = attributes.with_time(time, seconds, ns);
            }
            assert_eq!(attributes.mtime_order(0), Some(order));
            for time in Time::ALL {
                assert_eq!(attributes.time_ns(time), known);
                assert_eq!(attributes.time_s(time), Some(seconds));
            }
        }
        let mut unborn = Attributes::of_type(FileType::File);
        unborn.set_birth_ns(None);
        let (ns, seconds) = (unborn.time_ns(Time::Born), unborn.time_s(Time::Born));
        assert_eq!((ns, seconds), (None, None));
    }
}
