// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers of a report, beside the tree.
//!
//! Names and paths are bytes. Paths begin with a root as [`Answer::roots`] has it.

/// The numbers of a report, beside the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The program with its version.
    pub program: String,
    /// The whole paths of the roots that were read.
    pub roots: Vec<Vec<u8>>,
    /// The name of the machine.
    pub host: Vec<u8>,
    /// The end of the scan, in nanoseconds since 1970.
    pub time_ns: i64,
    /// The words of the command line.
    pub options: Vec<Vec<u8>>,
    /// Why the sums are a lower bound, in sentences without names; empty where they are
    /// complete.
    pub gaps: Vec<String>,
    /// Sentences on what was left out on purpose, without names.
    pub left_out: Vec<String>,
    /// The sums of all roots.
    pub totals: Totals,
    /// Kinds of content. The last stands for what is no file.
    pub categories: Vec<Category>,
    /// The largest endings, then the rest of files, then entries that are no files.
    pub endings: Vec<Ending>,
    /// Owners of all entries.
    pub owners: Vec<Owner>,
    /// Times since the last modification of files, then entries that are no files.
    pub ages: Vec<AgeGroup>,
    /// Sizes of files, then entries that are no files.
    pub sizes: Vec<SizeGroup>,
    /// Pairs of a percentage and a size: so many of all files are at most as large.
    pub percentiles: Vec<(u8, u64)>,
    /// The largest files.
    pub largest: Vec<Large>,
    /// The largest directories.
    pub directories: Vec<Directory>,
    /// Entries that could not be read, as many as are listed.
    pub errors: Vec<Failed>,
    /// How many there are.
    pub errors_total: u64,
    /// How many of them are directories that were read, and changed meanwhile.
    pub changed_total: u64,
    /// The file systems of the roots, each once.
    pub spaces: Vec<Space>,
    /// Entries that are worth a look.
    pub worth: Vec<Hint>,
    /// The directories that a program makes again.
    pub rebuildable: Rebuildable,
}

impl Answer {
    /// Whether files have content, and nothing has blocks: so do phones by MTP and some cloud
    /// mounts. Apparent sizes then order the rows, and shares are of them.
    #[must_use]
    pub fn lacks_blocks(&self) -> bool {
        let totals = &self.totals;
        let sums = &totals.sums;
        totals.files > 0 && sums.apparent_bytes > 0 && sums.allocated_bytes == 0
    }
}

/// The size that a text shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    is_apparent: bool,
}

impl Measure {
    pub(crate) fn of(answer: &Answer) -> Measure {
        Measure {
            is_apparent: answer.lacks_blocks(),
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self.is_apparent {
            true => "Apparent",
            false => "Disk",
        }
    }

    pub(crate) fn bytes(self, sums: &Sums) -> u128 {
        match self.is_apparent {
            true => sums.apparent_bytes,
            false => sums.allocated_bytes,
        }
    }

    pub(crate) fn bytes_of_file(self, file: &Large) -> u128 {
        match self.is_apparent {
            true => file.apparent_bytes.into(),
            false => file.allocated_bytes.into(),
        }
    }

    /// The sentence beside it, where nobody expects this size.
    pub(crate) fn sentence(self) -> Option<&'static str> {
        self.is_apparent.then_some(statwalk_view::NO_BLOCKS)
    }
}

/// Sums of bytes, and a number of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The space on disk.
    pub allocated_bytes: u128,
    /// The sizes as `ls` shows them.
    pub apparent_bytes: u128,
    /// How many entries.
    pub entries: u64,
    /// The newest modification of anything but directories, in seconds since 1970. Absent
    /// where nothing has a time that is known, and in the sums of directories.
    pub newest_s: Option<i64>,
}

impl Sums {
    /// Adds other entries.
    #[inline]
    pub fn add(&mut self, more: Sums) {
        self.allocated_bytes += more.allocated_bytes;
        self.apparent_bytes += more.apparent_bytes;
        self.entries += more.entries;
        self.newest_s = self.newest_s.max(more.newest_s);
    }
}

/// The sums of all roots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Of everything.
    pub sums: Sums,
    /// How many regular files.
    pub files: u64,
    /// How many directories.
    pub directories: u64,
    /// How many symbolic links.
    pub links: u64,
    /// How many others.
    pub other: u64,
}

/// A kind of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Category {
    /// Its name for programs.
    pub key: String,
    /// Its name for people.
    pub label: String,
    /// Its sums.
    pub sums: Sums,
}

/// An ending of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Without the dot; empty for names without one.
    Named(String, Sums),
    /// All other endings.
    Rest(Sums),
    /// Entries that are no files.
    NotFiles(Sums),
}

/// An owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The number; absent where it is not known.
    pub id: Option<u32>,
    /// The name, where the number has one.
    pub name: Option<Vec<u8>>,
    /// The sums of all entries.
    pub sums: Sums,
}

/// Files that were modified within a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgeGroup {
    /// Its name for people.
    pub label: String,
    /// The first second, since 1970; absent where the span is open.
    pub from_s: Option<i64>,
    /// The second after the last; absent where the span is open.
    pub to_s: Option<i64>,
    /// Whether it stands for what is no file, and for files whose time is not known.
    pub is_not_files: bool,
    /// Its sums.
    pub sums: Sums,
}

/// Files of sizes within a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeGroup {
    /// Its name for people.
    pub label: String,
    /// The smallest size; absent where it stands for what is no file.
    pub from_bytes: Option<u64>,
    /// The size after the largest; absent where there is none.
    pub to_bytes: Option<u64>,
    /// Its sums.
    pub sums: Sums,
}

/// A large file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    /// Its path.
    pub path: Vec<u8>,
    /// The space on disk.
    pub allocated_bytes: u64,
    /// The size as `ls` shows it.
    pub apparent_bytes: u64,
    /// The last modification in seconds since 1970, where it is known.
    pub newest_s: Option<i64>,
    /// As in [`Groups::owner`](crate::Groups::owner).
    pub owner: u32,
    /// As in [`Groups::category`](crate::Groups::category).
    pub category: u8,
    /// As in [`Groups::ending`](crate::Groups::ending).
    pub ending: u8,
}

/// A large directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Its path.
    pub path: Vec<u8>,
    /// The sums over it and all below.
    pub sums: Sums,
    /// Whether they are a lower bound: something below was not read.
    pub is_incomplete: bool,
}

/// An entry that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its path.
    pub path: Vec<u8>,
    /// The operation that failed.
    pub operation: String,
    /// The reason.
    pub cause: String,
}

/// The space of a file system, as `statwalk df` has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Its mount point; empty where that is a name to be hidden.
    pub point: Vec<u8>,
    /// All of its bytes, of which the shares are.
    pub total_bytes: u64,
    /// Free bytes, where the scan covers the whole file system and nothing else.
    pub free_bytes: Option<u64>,
    /// Whether the scan covers it, so that its parts are known.
    pub is_exact: bool,
    /// Lines of the account.
    pub parts: Vec<Part>,
}

/// A line of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name for people, without names of entries.
    pub label: String,
    /// How much; a part can be negative.
    pub bytes: i128,
    /// It is a part of the line above that has a lower level.
    pub level: u8,
    /// More about it, without a name.
    pub note: Option<String>,
}

/// An entry that is worth a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Why.
    pub kind: HintKind,
    /// Its path.
    pub path: Vec<u8>,
    /// The space on disk, where it is known.
    pub allocated_bytes: Option<u128>,
    /// One sentence, without a name.
    pub note: String,
}

/// The directories that a program makes again; none is within another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuildable {
    /// Their sums; the entries are the directories.
    pub sums: Sums,
    /// The largest of them.
    pub largest: Vec<Hint>,
}

/// Why an entry is worth a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    /// Large, and not modified for long.
    Old,
    /// Large, and new.
    New,
    /// A program makes it again.
    Rebuildable,
    /// It could not be read.
    Unreadable,
}

impl HintKind {
    /// Returns its name for programs.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            HintKind::Old => "old",
            HintKind::New => "new",
            HintKind::Rebuildable => "rebuildable",
            HintKind::Unreadable => "unreadable",
        }
    }
}
