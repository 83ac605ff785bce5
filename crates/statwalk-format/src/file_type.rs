// SPDX-License-Identifier: MIT OR Apache-2.0

//! The type of an entry: `S_IFMT` of its mode, or the type in a directory.

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
    pub const ALL: [FileType; 8] = [
        FileType::File,
        FileType::Directory,
        FileType::Symlink,
        FileType::Fifo,
        FileType::Socket,
        FileType::CharDevice,
        FileType::BlockDevice,
        FileType::Unknown,
    ];

    /// The number of the type in columns: 0 for a file, then in the order of the variants.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The type of a number; absent where no type has it.
    ///
    /// ```
    /// use statwalk_format::FileType;
    /// assert_eq!(FileType::from_number(FileType::Symlink.number()), Some(FileType::Symlink));
    /// assert_eq!(FileType::from_number(200), None);
    /// ```
    #[inline]
    #[must_use]
    pub fn from_number(number: u8) -> Option<FileType> {
        FileType::ALL.get(usize::from(number)).copied()
    }

    /// The type in `st_mode`: `S_IFMT`, inode(7).
    #[inline]
    #[must_use]
    pub fn of_mode(mode: u16) -> FileType {
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
    #[must_use]
    pub fn of_directory_entry(file_type: u8) -> FileType {
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

    /// Its word in tables.
    ///
    /// ```
    /// use statwalk_format::FileType;
    /// assert_eq!(FileType::CharDevice.word(), "char_device");
    /// ```
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            FileType::File => "file",
            FileType::Directory => "directory",
            FileType::Symlink => "symlink",
            FileType::Fifo => "fifo",
            FileType::Socket => "socket",
            FileType::CharDevice => "char_device",
            FileType::BlockDevice => "block_device",
            FileType::Unknown => "unknown",
        }
    }

    /// Whether it is a regular file.
    #[inline]
    #[must_use]
    pub fn is_file(self) -> bool {
        self == FileType::File
    }

    /// Whether it is a directory.
    #[inline]
    #[must_use]
    pub fn is_dir(self) -> bool {
        self == FileType::Directory
    }

    /// Whether it is a symbolic link.
    ///
    /// ```
    /// use statwalk_format::FileType;
    /// assert!(FileType::Symlink.is_symlink() && !FileType::Symlink.is_file());
    /// ```
    #[inline]
    #[must_use]
    pub fn is_symlink(self) -> bool {
        self == FileType::Symlink
    }

    /// The letter that `find -type` uses; `?` where the type is unknown.
    ///
    /// ```
    /// assert_eq!(statwalk_format::FileType::Directory.letter(), 'd');
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
