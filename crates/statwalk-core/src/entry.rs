// SPDX-License-Identifier: MIT OR Apache-2.0

//! The facts about one name: its type, its identity, its attributes.
//!
//! Plain data. Nothing here reads a file system.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{BitOr, BitOrAssign};
use std::time::{Duration, SystemTime};

/// The type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
    /// Neither the listing nor a stat could tell.
    Unknown,
}

impl FileType {
    /// All types, in the order of their numbers.
    pub(crate) const ALL: [FileType; 8] = [
        FileType::File,
        FileType::Directory,
        FileType::Symlink,
        FileType::Fifo,
        FileType::Socket,
        FileType::CharDevice,
        FileType::BlockDevice,
        FileType::Unknown,
    ];
    pub(crate) const COUNT: usize = FileType::ALL.len();

    /// The number of the type in [`Columns::kinds`](crate::Columns::kinds): 0 for a file,
    /// then in the order of the variants.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The type of a number; absent where no type has it.
    ///
    /// ```
    /// use statwalk_core::FileType;
    /// assert_eq!(FileType::from_number(FileType::Symlink.number()), Some(FileType::Symlink));
    /// assert_eq!(FileType::from_number(200), None);
    /// ```
    #[must_use]
    pub fn from_number(number: u8) -> Option<FileType> {
        FileType::ALL.get(usize::from(number)).copied()
    }

    /// The type in `st_mode`: `S_IFMT`, inode(7).
    #[inline]
    pub(crate) fn of_mode(mode: u16) -> FileType {
        match mode & 0o170_000 {
            0o100_000 => FileType::File,
            0o040_000 => FileType::Directory,
            0o120_000 => FileType::Symlink,
            0o010_000 => FileType::Fifo,
            0o140_000 => FileType::Socket,
            0o020_000 => FileType::CharDevice,
            0o060_000 => FileType::BlockDevice,
            _ => FileType::Unknown,
        }
    }

    /// The type that a directory of ext4 or btrfs tells of an entry: `FT_REG_FILE`
    /// and others, include/linux/fs_types.h.
    #[inline]
    pub(crate) fn of_directory_entry(file_type: u8) -> FileType {
        match file_type {
            1 => FileType::File,
            2 => FileType::Directory,
            3 => FileType::CharDevice,
            4 => FileType::BlockDevice,
            5 => FileType::Fifo,
            6 => FileType::Socket,
            7 => FileType::Symlink,
            _ => FileType::Unknown,
        }
    }

    /// Whether it is a regular file.
    #[must_use]
    pub fn is_file(self) -> bool {
        self == FileType::File
    }

    /// Whether it is a directory.
    #[must_use]
    pub fn is_dir(self) -> bool {
        self == FileType::Directory
    }

    /// Whether it is a symbolic link.
    ///
    /// ```
    /// use statwalk_core::FileType;
    /// assert!(FileType::Symlink.is_symlink() && !FileType::Symlink.is_file());
    /// ```
    #[must_use]
    pub fn is_symlink(self) -> bool {
        self == FileType::Symlink
    }

    /// The letter that `find -type` uses; `?` where the type is unknown.
    ///
    /// ```
    /// assert_eq!(statwalk_core::FileType::Directory.letter(), 'd');
    /// ```
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            FileType::File => 'f',
            FileType::Directory => 'd',
            FileType::Symlink => 'l',
            FileType::Fifo => 'p',
            FileType::Socket => 's',
            FileType::CharDevice => 'c',
            FileType::BlockDevice => 'b',
            FileType::Unknown => '?',
        }
    }
}

/// A set of attributes: those that a caller wants, or those that are known.
///
/// The fields decide the system calls: [`NAME`](Self::NAME) and
/// [`TYPE`](Self::TYPE) come with the listing of a directory, anything else
/// costs one stat for each entry.
///
/// ```
/// use statwalk_core::Fields;
/// let wanted = Fields::SIZE | Fields::MTIME;
/// assert!(wanted.contains(Fields::SIZE) && wanted.need_stat());
/// assert!(!(Fields::NAME | Fields::TYPE).need_stat());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Fields(u16);

impl Fields {
    /// No field.
    pub const NONE: Fields = Fields(0);
    /// The name.
    pub const NAME: Fields = Fields(1);
    /// The type.
    pub const TYPE: Fields = Fields(1 << 1);
    /// `st_size`, in bytes.
    pub const SIZE: Fields = Fields(1 << 2);
    /// The space taken, 512 × `st_blocks`, in bytes.
    pub const ALLOCATED: Fields = Fields(1 << 3);
    /// The number of hard links.
    pub const LINKS: Fields = Fields(1 << 4);
    /// Device and inode number.
    pub const ID: Fields = Fields(1 << 5);
    /// Time of the last change of the content.
    pub const MTIME: Fields = Fields(1 << 6);
    /// Time of the last access.
    pub const ATIME: Fields = Fields(1 << 7);
    /// Time of the last change of the inode.
    pub const CTIME: Fields = Fields(1 << 8);
    /// Time of birth; absent where the file system keeps none.
    pub const BTIME: Fields = Fields(1 << 9);
    /// User and group id.
    pub const OWNER: Fields = Fields(1 << 10);
    /// Type and permission bits, as in `st_mode`.
    pub const MODE: Fields = Fields(1 << 11);
    /// The device that a device node stands for.
    pub const RDEV: Fields = Fields(1 << 12);

    /// The fields that neither the browser nor a table nor totals want, unless somebody
    /// asks for them.
    pub(crate) const RARE: Fields = Fields::ATIME
        .union(Fields::CTIME)
        .union(Fields::BTIME)
        .union(Fields::MODE)
        .union(Fields::RDEV);

    /// All fields.
    pub(crate) const ALL: Fields = Fields((1 << Fields::NAMED.len()) - 1);

    const NAMED: [(Fields, &'static str); 13] = [
        (Self::NAME, "name"),
        (Self::TYPE, "type"),
        (Self::SIZE, "size"),
        (Self::ALLOCATED, "allocated"),
        (Self::LINKS, "links"),
        (Self::ID, "id"),
        (Self::MTIME, "mtime"),
        (Self::ATIME, "atime"),
        (Self::CTIME, "ctime"),
        (Self::BTIME, "btime"),
        (Self::OWNER, "owner"),
        (Self::MODE, "mode"),
        (Self::RDEV, "rdev"),
    ];

    /// Whether every field of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Fields) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a field of `other` is in this set.
    pub(crate) const fn has_any(self, other: Fields) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: Fields) -> Fields {
        Fields(self.0 | other.0)
    }

    /// This set without the fields of `other`.
    #[must_use]
    pub const fn without(self, other: Fields) -> Fields {
        Fields(self.0 & !other.0)
    }

    /// The fields that are in both sets.
    #[must_use]
    pub(crate) const fn intersection(self, other: Fields) -> Fields {
        Fields(self.0 & other.0)
    }

    /// Whether the listing of a directory alone cannot give these fields.
    #[must_use]
    pub const fn need_stat(self) -> bool {
        self.0 & !(Self::NAME.0 | Self::TYPE.0) != 0
    }

    /// The names of the fields, in a fixed order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMED
            .into_iter()
            .filter(move |&(field, _)| self.contains(field))
            .map(|(_, name)| name)
    }
}

impl BitOr for Fields {
    type Output = Fields;
    fn bitor(self, other: Fields) -> Fields {
        self.union(other)
    }
}

impl BitOrAssign for Fields {
    fn bitor_assign(&mut self, other: Fields) {
        *self = self.union(other);
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

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

/// The fields of times, in the order of the bits of [`Attributes::odd`].
pub(crate) const TIMES: [Fields; 4] = [Fields::MTIME, Fields::ATIME, Fields::CTIME, Fields::BTIME];

/// All of [`TIMES`].
pub(crate) const ALL_TIMES: Fields = Fields::MTIME
    .union(Fields::ATIME)
    .union(Fields::CTIME)
    .union(Fields::BTIME);

/// Stand in place of a time that does not fit into 64 bits of nanoseconds: one before
/// 1677 and one after 2262. They compare with any other as the time would. Its seconds
/// lie beside it, in an [`OddTime`](crate::OddTime).
pub(crate) const TOO_EARLY: i64 = i64::MIN;
pub(crate) const TOO_LATE: i64 = i64::MAX;

/// Nanoseconds since 1970, or what stands for a time that they cannot hold.
#[inline]
pub(crate) fn nanoseconds_of(seconds: i64, nanoseconds: u32) -> i64 {
    let ns = seconds.checked_mul(1_000_000_000);
    let ns = ns.and_then(|ns| ns.checked_add(i64::from(nanoseconds)));
    ns.unwrap_or_else(|| mark_of(seconds))
}

/// Stands for a time of so many seconds since 1970 that nanoseconds do not hold.
pub(crate) fn mark_of(seconds: i64) -> i64 {
    match seconds < 0 {
        true => TOO_EARLY,
        false => TOO_LATE,
    }
}

/// Whether nanoseconds since 1970 say when, and do not stand for a time that they
/// cannot hold.
#[inline]
pub(crate) fn is_time(ns: i64) -> bool {
    ns != TOO_EARLY && ns != TOO_LATE
}

/// The attributes of one entry, as one stat gives them.
///
/// [`valid`](Self::valid) says which fields are known; the others hold
/// nothing of meaning. The accessors return `None` for them.
///
/// A scan makes them. Tests, and programs that read a stored scan, begin with
/// [`of_type`](Self::of_type) and add the fields that they know by `with_…`.
///
/// ```
/// use statwalk_core::{Attributes, FileId, FileType};
///
/// let attributes = Attributes::of_type(FileType::File)
///     .with_size_bytes(70)
///     .with_id(FileId::new(2049, 12))
///     .with_mtime(-1, 500_000_000);
/// assert_eq!(attributes.mtime_ns(), Some(-500_000_000));
/// assert_eq!(attributes.links(), None);
/// ```
#[derive(Clone, Copy)]
pub struct Attributes {
    /// Which fields are known.
    pub valid: Fields,
    /// The type.
    pub kind: FileType,
    /// A bit for each of [`TIMES`]: whether its field has seconds, because nanoseconds do
    /// not hold the time. The struct is not larger for it.
    pub(crate) odd: u8,
    pub(crate) size_bytes: u64,
    pub(crate) allocated_bytes: u64,
    pub(crate) links: u32,
    pub(crate) id: FileId,
    pub(crate) mtime_ns: i64,
    pub(crate) atime_ns: i64,
    pub(crate) ctime_ns: i64,
    pub(crate) btime_ns: i64,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) mode: u16,
    pub(crate) rdev: u64,
}

macro_rules! accessor {
    ($(#[$doc:meta])* $name:ident: $type:ty, $field:ident, $($value:tt)+) => {
        $(#[$doc])*
        #[must_use]
        pub fn $name(&self) -> Option<$type> {
            self.valid.contains(Fields::$field).then_some(self.$($value)+)
        }
    };
}

/// The known fields alone: the others hold nothing of meaning.
impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut attributes = f.debug_struct("Attributes");
        attributes.field("kind", &self.kind);
        macro_rules! known {
            ($($field:ident)+) => {
                $(if let Some(value) = self.$field() {
                    attributes.field(stringify!($field), &value);
                })+
            };
        }
        known!(size_bytes allocated_bytes links id mtime_ns atime_ns ctime_ns btime_ns uid gid);
        if let Some(mode) = self.mode() {
            attributes.field("mode", &format_args!("{mode:#o}"));
        }
        known!(rdev);
        attributes.finish_non_exhaustive()
    }
}

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

    /// Attributes of which only the type is known.
    #[must_use]
    pub const fn of_type(kind: FileType) -> Attributes {
        Attributes {
            valid: Fields::TYPE,
            kind,
            odd: 0,
            size_bytes: 0,
            allocated_bytes: 0,
            links: 0,
            id: FileId { dev: 0, ino: 0 },
            mtime_ns: 0,
            atime_ns: 0,
            ctime_ns: 0,
            btime_ns: 0,
            uid: 0,
            gid: 0,
            mode: 0,
            rdev: 0,
        }
    }

    /// Takes over nanoseconds of the last change of the content, or what stands for a time
    /// that they cannot hold. [`with_odd_times`](Self::with_odd_times) has the seconds then.
    // The setters below cost a scan with times 2 % of its instructions (callgrind).
    #[inline]
    pub(crate) fn set_mtime_ns(&mut self, ns: i64) {
        self.mtime_ns = ns;
        self.fit(Fields::MTIME, ns);
    }

    /// As [`set_mtime_ns`](Self::set_mtime_ns), of the last access.
    #[inline]
    pub(crate) fn set_atime_ns(&mut self, ns: i64) {
        self.atime_ns = ns;
        self.fit(Fields::ATIME, ns);
    }

    /// As [`set_mtime_ns`](Self::set_mtime_ns), of the last change of the inode.
    #[inline]
    pub(crate) fn set_ctime_ns(&mut self, ns: i64) {
        self.ctime_ns = ns;
        self.fit(Fields::CTIME, ns);
    }

    /// As [`set_mtime_ns`](Self::set_mtime_ns), of birth, where there is one.
    #[inline]
    pub(crate) fn set_btime_ns(&mut self, ns: Option<i64>) {
        let ns = ns.unwrap_or(TOO_EARLY);
        self.btime_ns = ns;
        self.fit(Fields::BTIME, ns);
    }

    #[inline]
    fn fit(&mut self, field: Fields, ns: i64) {
        self.valid = match is_time(ns) {
            true => self.valid.union(field),
            false => self.valid.without(field),
        };
    }

    /// Adds the seconds of those wanted times that nanoseconds do not hold. `seconds` has
    /// them in the order of [`TIMES`]; absent where the file system keeps none.
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
        for (time, seconds) in seconds.into_iter().enumerate() {
            let field = TIMES[time];
            if let Some(seconds) = seconds
                && wanted.contains(field)
                && !self.valid.contains(field)
            {
                self.set_odd_s(time, seconds);
            }
        }
        self
    }

    /// Takes over the time of the last change of the content.
    #[inline]
    pub(crate) fn set_mtime(&mut self, seconds: i64, nanoseconds: u32) {
        self.mtime_ns = self.know_time(0, seconds, nanoseconds);
    }

    /// Takes over the time of the last access.
    #[inline]
    pub(crate) fn set_atime(&mut self, seconds: i64, nanoseconds: u32) {
        self.atime_ns = self.know_time(1, seconds, nanoseconds);
    }

    /// Takes over the time of the last change of the inode.
    #[inline]
    pub(crate) fn set_ctime(&mut self, seconds: i64, nanoseconds: u32) {
        self.ctime_ns = self.know_time(2, seconds, nanoseconds);
    }

    /// Takes over the time of birth, where there is one.
    #[inline]
    pub(crate) fn set_btime(&mut self, time: Option<(i64, u32)>) {
        match time {
            Some((seconds, nanoseconds)) => {
                self.btime_ns = self.know_time(3, seconds, nanoseconds);
            }
            None => self.valid = self.valid.without(Fields::BTIME),
        }
    }

    /// Notes whether a time fits into nanoseconds. Gives these, or its seconds.
    #[inline]
    fn know_time(&mut self, time: usize, seconds: i64, nanoseconds: u32) -> i64 {
        let ns = nanoseconds_of(seconds, nanoseconds);
        let is_odd = !is_time(ns);
        self.mark(time, is_odd);
        if is_odd { seconds } else { ns }
    }

    /// Notes whether the field of a time has seconds.
    #[inline]
    fn mark(&mut self, time: usize, is_odd: bool) {
        self.odd |= u8::from(is_odd) << time;
        self.valid = match is_odd {
            true => self.valid.without(TIMES[time]),
            false => self.valid.union(TIMES[time]),
        };
    }

    /// Takes over the seconds of a time, in the order of [`TIMES`], that nanoseconds do not
    /// hold.
    pub(crate) fn set_odd_s(&mut self, time: usize, seconds: i64) {
        self.mark(time, true);
        let values = [
            &mut self.mtime_ns,
            &mut self.atime_ns,
            &mut self.ctime_ns,
            &mut self.btime_ns,
        ];
        if let Some(value) = values.into_iter().nth(time) {
            *value = seconds;
        }
    }

    /// The seconds of a time, in the order of [`TIMES`], that nanoseconds do not hold.
    pub(crate) fn odd_s(&self, time: usize) -> Option<i64> {
        let values = [self.mtime_ns, self.atime_ns, self.ctime_ns, self.btime_ns];
        (self.odd & 1 << time != 0).then(|| values[time])
    }

    /// The whole seconds of a time, in the order of [`TIMES`].
    fn seconds(&self, time: usize, ns: Option<i64>) -> Option<i64> {
        ns.map_or_else(|| self.odd_s(time), |ns| Some(ns.div_euclid(1_000_000_000)))
    }

    /// The same with a size in bytes.
    #[must_use]
    pub fn with_size_bytes(mut self, bytes: u64) -> Attributes {
        self.size_bytes = bytes;
        self.valid |= Fields::SIZE;
        self
    }

    /// The same with the space taken, in bytes.
    #[must_use]
    pub fn with_allocated_bytes(mut self, bytes: u64) -> Attributes {
        self.allocated_bytes = bytes;
        self.valid |= Fields::ALLOCATED;
        self
    }

    /// The same with a number of hard links.
    #[must_use]
    pub fn with_links(mut self, links: u32) -> Attributes {
        self.links = links;
        self.valid |= Fields::LINKS;
        self
    }

    /// The same with a device and an inode number.
    #[must_use]
    pub fn with_id(mut self, id: FileId) -> Attributes {
        self.id = id;
        self.valid |= Fields::ID;
        self
    }

    /// The same with the last change of the content: seconds since 1970, and nanoseconds
    /// after them. Where 64 bits of nanoseconds do not hold the time, its seconds stay.
    #[must_use]
    pub fn with_mtime(mut self, seconds: i64, nanoseconds: u32) -> Attributes {
        self.odd &= !(1 << 0);
        self.set_mtime(seconds, nanoseconds);
        self
    }

    /// The same with the last access, as [`with_mtime`](Self::with_mtime).
    #[must_use]
    pub fn with_atime(mut self, seconds: i64, nanoseconds: u32) -> Attributes {
        self.odd &= !(1 << 1);
        self.set_atime(seconds, nanoseconds);
        self
    }

    /// The same with the last change of the inode, as [`with_mtime`](Self::with_mtime).
    #[must_use]
    pub fn with_ctime(mut self, seconds: i64, nanoseconds: u32) -> Attributes {
        self.odd &= !(1 << 2);
        self.set_ctime(seconds, nanoseconds);
        self
    }

    /// The same with the birth, as [`with_mtime`](Self::with_mtime).
    #[must_use]
    pub fn with_btime(mut self, seconds: i64, nanoseconds: u32) -> Attributes {
        self.odd &= !(1 << 3);
        self.set_btime(Some((seconds, nanoseconds)));
        self
    }

    /// The same with user and group id.
    #[must_use]
    pub fn with_owner(mut self, uid: u32, gid: u32) -> Attributes {
        (self.uid, self.gid) = (uid, gid);
        self.valid |= Fields::OWNER;
        self
    }

    /// The same with `st_mode`.
    #[must_use]
    pub fn with_mode(mut self, mode: u16) -> Attributes {
        self.mode = mode;
        self.valid |= Fields::MODE;
        self
    }

    /// The same with the device that a device node stands for.
    #[must_use]
    pub fn with_rdev(mut self, rdev: u64) -> Attributes {
        self.rdev = rdev;
        self.valid |= Fields::RDEV;
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
        self.mtime_ns().or_else(|| self.odd_s(0).map(mark_of))
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

    accessor!(/// `st_size`, in bytes.
        size_bytes: u64, SIZE, size_bytes);
    accessor!(/// The space taken, 512 × `st_blocks`, in bytes.
        allocated_bytes: u64, ALLOCATED, allocated_bytes);
    accessor!(/// The number of hard links.
        links: u32, LINKS, links);
    accessor!(/// Device and inode number.
        id: FileId, ID, id);
    accessor!(/// Last change of the content, in nanoseconds since 1970. As every time,
        /// absent where it does not fit: before 1677 and after 2262.
        mtime_ns: i64, MTIME, mtime_ns);
    accessor!(/// Last access, in nanoseconds since 1970.
        atime_ns: i64, ATIME, atime_ns);
    accessor!(/// Last change of the inode, in nanoseconds since 1970.
        ctime_ns: i64, CTIME, ctime_ns);
    accessor!(/// Birth, in nanoseconds since 1970.
        btime_ns: i64, BTIME, btime_ns);

    /// Last change of the content, in whole seconds since 1970, rounded down. Known also
    /// before 1677 and after 2262, where [`mtime_ns`](Self::mtime_ns) is absent.
    ///
    /// ```
    /// use statwalk_core::{Attributes, FileType};
    /// let year_2400 = Attributes::of_type(FileType::File).with_mtime(13_569_465_600, 5);
    /// assert_eq!((year_2400.mtime_ns(), year_2400.mtime_s()), (None, Some(13_569_465_600)));
    /// ```
    #[must_use]
    pub fn mtime_s(&self) -> Option<i64> {
        self.seconds(0, self.mtime_ns())
    }

    /// Last access, as [`mtime_s`](Self::mtime_s).
    #[must_use]
    pub fn atime_s(&self) -> Option<i64> {
        self.seconds(1, self.atime_ns())
    }

    /// Last change of the inode, as [`mtime_s`](Self::mtime_s).
    #[must_use]
    pub fn ctime_s(&self) -> Option<i64> {
        self.seconds(2, self.ctime_ns())
    }

    /// Birth, as [`mtime_s`](Self::mtime_s).
    #[must_use]
    pub fn btime_s(&self) -> Option<i64> {
        self.seconds(3, self.btime_ns())
    }

    accessor!(/// User id.
        uid: u32, OWNER, uid);
    accessor!(/// Group id.
        gid: u32, OWNER, gid);
    accessor!(/// Type and permission bits, as in `st_mode`.
        mode: u16, MODE, mode);
    accessor!(/// The device that a device node stands for.
        rdev: u64, RDEV, rdev);
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
            attributes = (attributes.with_mtime(seconds, ns)).with_atime(seconds, ns);
            attributes = (attributes.with_ctime(seconds, ns)).with_btime(seconds, ns);
            assert_eq!(attributes.mtime_order(0), Some(order));
            let (a, b) = (attributes.mtime_ns(), attributes.atime_ns());
            let (c, d) = (attributes.ctime_ns(), attributes.btime_ns());
            assert_eq!([a, b, c, d], [known; 4]);
            let (a, b) = (attributes.mtime_s(), attributes.atime_s());
            let (c, d) = (attributes.ctime_s(), attributes.btime_s());
            assert_eq!([a, b, c, d], [Some(seconds); 4]);
        }
        let mut unborn = Attributes::of_type(FileType::File);
        unborn.set_btime(None);
        assert_eq!((unborn.btime_ns(), unborn.btime_s()), (None, None));
    }

    #[test]
    fn nanoseconds_end_in_1677_and_2262() {
        assert_eq!(nanoseconds_of(-1, 999_999_999), -1);
        assert_eq!(nanoseconds_of(9_223_372_036, 854_775_806), i64::MAX - 1);
        assert_eq!(nanoseconds_of(9_223_372_036, 999_999_999), TOO_LATE);
        assert_eq!(nanoseconds_of(9_223_372_037, 0), TOO_LATE);
        assert_eq!(nanoseconds_of(i64::MAX, 999_999_999), TOO_LATE);
        // The fraction must not bring it back.
        assert_eq!(nanoseconds_of(-9_223_372_037, 999_999_999), TOO_EARLY);
        assert_eq!(nanoseconds_of(i64::MIN, 999_999_999), TOO_EARLY);
    }

    #[test]
    fn fields_know_their_names() {
        let fields = Fields::MTIME | Fields::TYPE;
        assert_eq!(fields.names().collect::<Vec<_>>(), ["type", "mtime"]);
        assert_eq!(format!("{fields:?}"), r#"{"type", "mtime"}"#);
    }
}
