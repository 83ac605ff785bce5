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

/// Stand in place of a time that does not fit into 64 bits of nanoseconds: one before
/// 1677 and one after 2262. They compare with any other as the time would.
pub(crate) const TOO_EARLY: i64 = i64::MIN;
pub(crate) const TOO_LATE: i64 = i64::MAX;

/// Nanoseconds since 1970, or what stands for a time that they cannot hold.
#[inline]
pub(crate) fn nanoseconds_of(seconds: i64, nanoseconds: u32) -> i64 {
    let ns = seconds.checked_mul(1_000_000_000);
    let ns = ns.and_then(|ns| ns.checked_add(i64::from(nanoseconds)));
    ns.unwrap_or(if seconds < 0 { TOO_EARLY } else { TOO_LATE })
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
#[derive(Clone, Copy)]
pub struct Attributes {
    /// Which fields are known.
    pub valid: Fields,
    /// The type.
    pub kind: FileType,
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

    /// Takes over the time of the last change of the content; one that does not fit is
    /// absent.
    #[inline]
    pub(crate) fn set_mtime(&mut self, ns: i64) {
        self.mtime_ns = ns;
        self.know(Fields::MTIME, is_time(ns));
    }

    /// Takes over the time of the last access.
    #[inline]
    pub(crate) fn set_atime(&mut self, ns: i64) {
        self.atime_ns = ns;
        self.know(Fields::ATIME, is_time(ns));
    }

    /// Takes over the time of the last change of the inode.
    #[inline]
    pub(crate) fn set_ctime(&mut self, ns: i64) {
        self.ctime_ns = ns;
        self.know(Fields::CTIME, is_time(ns));
    }

    /// Takes over the time of birth, where there is one.
    #[inline]
    pub(crate) fn set_btime(&mut self, ns: Option<i64>) {
        self.btime_ns = ns.unwrap_or(TOO_EARLY);
        self.know(Fields::BTIME, is_time(self.btime_ns));
    }

    #[inline]
    fn know(&mut self, field: Fields, is_known: bool) {
        self.valid = match is_known {
            true => self.valid.union(field),
            false => self.valid.without(field),
        };
    }

    /// How the last change of the content lies to a moment, in nanoseconds since 1970.
    ///
    /// Known also for times before 1677 and after 2262, of which
    /// [`mtime_ns`](Self::mtime_ns) is absent.
    #[must_use]
    pub fn mtime_order(&self, moment_ns: i64) -> Option<Ordering> {
        match self.mtime_ns {
            TOO_EARLY => Some(Ordering::Less),
            TOO_LATE => Some(Ordering::Greater),
            _ => self.mtime_ns().map(|ns| ns.cmp(&moment_ns)),
        }
    }

    /// The same in nanoseconds since 1970, with what stands for times that do not fit.
    pub(crate) fn clamped_mtime_ns(&self) -> Option<i64> {
        self.mtime_order(0).map(|_| self.mtime_ns)
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
        for (ns, known, order) in [
            (5, Some(5), Ordering::Greater),
            (TOO_EARLY, None, Ordering::Less),
            (TOO_LATE, None, Ordering::Greater),
            (-1, Some(-1), Ordering::Less),
        ] {
            attributes.set_mtime(ns);
            assert_eq!(attributes.mtime_ns(), known);
            assert_eq!(attributes.mtime_order(0), Some(order));
            attributes.set_btime(Some(ns));
            assert_eq!(attributes.btime_ns(), known);
        }
        attributes.set_btime(None);
        assert_eq!(attributes.btime_ns(), None);
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
