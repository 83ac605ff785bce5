// SPDX-License-Identifier: MIT OR Apache-2.0

//! The oracle: counts a tree by plain recursion over `std::fs`, one thing at a time.
//!
//! It follows "What is counted, exactly" of the command line's description, and
//! nothing else: no speed, no threads, no open descriptors, no bounded memory.
//! Every source, order and sink has to agree with it. It shares no code with the
//! engine.
//!
//! It leaves to others trees deeper than a path can name (ask
//! [`crate::model::Model::totals`]), trees that change meanwhile, and any time limit.
//!
//! Where the description leaves a choice, it is made here as follows.
//!
//! - An entry is a name in a directory. A directory is the one that its device
//!   and inode number name; it is listed where it is met first: roots in their
//!   order, within a root in path order. Met again through another mount it is a
//!   crossing. Met again by another argument it is not counted at all, and a mount that is
//!   not entered is left to its argument, too.
//! - An inode that is not a directory counts its bytes at the first of its names
//!   in this order, whatever `st_nlink` says. A bind mount of a file is one more name.
//! - With `one_file_system`, an entry with another mount id and another `st_dev` than the
//!   directory that holds it is a crossing and has no size, files included. A nested btrfs
//!   subvolume has the mount id of its surroundings and is entered. Without mount ids
//!   (before Linux 5.8) `st_dev` takes their place.
//! - With `follow`, all that is reached without links comes first. Then the links are
//!   taken in path order. A link to an entry that is no directory is an entry of its
//!   target's type. A link to a directory that is not yet listed is that directory; a
//!   link to one that is, is a directory entry without size. A link that leads nowhere
//!   (also by a loop) is a symbolic link. A root that is a link is reached without
//!   links.
//! - `extra_hard_links` are names beyond the first of their inode, also where
//!   `count_links` counts the bytes of each. A link that was followed is not a hard
//!   link.
//! - A root is never excluded, and entered even if it is a kernel file system.
//! - `newest_mtime_ns` looks at every name, and leaves out times of more than an hour
//!   ahead; all else that is summed up for a subtree follows the rules above.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};
use rustix::io::Errno;

use self::sums::{FileId, Found, sum_up};
use crate::model::{EntryType, Timestamp};

pub use self::report::{
    Counts, NaiveAttributes, NaiveEntry, NaiveReport, NotEntered, RootReport, Subtree,
};
pub use crate::model::path_order;

mod report;
mod sums;

/// Says which entries are left out; it is asked for the whole path, root included.
pub type Exclude<'a> = &'a (dyn Fn(&[u8]) -> bool + Sync);

/// The options of a count, in the words of the command line.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// `-x`: mounts of other devices are crossings.
    pub one_file_system: bool,
    /// `-l`: every name counts its bytes.
    pub count_links: bool,
    /// `-L`: symbolic links are followed.
    pub follow: bool,
    /// `--include-kernfs`: /proc, /sys and the like are entered.
    pub include_kernfs: bool,
    /// Entries for which this is true are excluded, with all that they hold.
    pub exclude: Option<Exclude<'a>>,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("one_file_system", &self.one_file_system)
            .field("count_links", &self.count_links)
            .field("follow", &self.follow)
            .field("include_kernfs", &self.include_kernfs)
            .field("excludes_some", &self.exclude.is_some())
            .finish()
    }
}

/// Counts one tree with the options that the command line has by default.
///
/// # Errors
///
/// As [`scan_with`].
pub fn scan(root: &Path) -> io::Result<NaiveReport> {
    scan_with(&[root], &Options::default())
}

/// Counts the trees of several arguments.
///
/// # Errors
///
/// Only where the oracle itself cannot judge: a path longer than `PATH_MAX`. Things
/// that a scanner may find (unreadable directories, missing roots) are in the report.
pub fn scan_with<P: AsRef<Path>>(roots: &[P], options: &Options<'_>) -> io::Result<NaiveReport> {
    let roots: Vec<PathBuf> = roots.iter().map(|root| root.as_ref().to_owned()).collect();
    // Recursion as deep as a path can be takes more than a test's thread has.
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(64 << 20)
            .spawn_scoped(scope, || Walk::new(*options).run(&roots))?
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A directory as one mount shows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    id: FileId,
    mount: u64,
}

/// One name: the directory that holds it, and its bytes there.
type Name = (Option<Place>, OsString);

/// Where the walk is when it meets an entry.
#[derive(Clone, Copy)]
struct Here<'a> {
    root: usize,
    /// The surrounding directory, and its index in `found`; none for a root.
    place: Option<Place>,
    parent: Option<usize>,
    /// The entry of the listing, for entries that cannot be read.
    listed: Option<&'a fs::DirEntry>,
}

/// A link that is followed when everything that needs no links has been found.
struct PendingLink {
    root: usize,
    path: PathBuf,
    place: Option<Place>,
    parent: Option<usize>,
}

/// A path that sorts by [`path_order`].
#[derive(PartialEq, Eq)]
struct InPathOrder(Vec<u8>);

impl Ord for InPathOrder {
    fn cmp(&self, other: &Self) -> Ordering {
        path_order(&self.0, &other.0)
    }
}

impl PartialOrd for InPathOrder {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Walk<'o> {
    options: Options<'o>,
    found: Vec<Found>,
    roots: Vec<RootReport>,
    /// Directories whose content belongs to an entry, and by which mount they were listed.
    listed: HashMap<FileId, u64>,
    /// Names that belong to an entry.
    names: HashSet<Name>,
    /// The arguments, as their mounts show them.
    arguments: HashSet<Place>,
    links: BTreeMap<(usize, InPathOrder), PendingLink>,
}

impl<'o> Walk<'o> {
    fn new(options: Options<'o>) -> Walk<'o> {
        Walk {
            options,
            found: Vec::new(),
            roots: Vec::new(),
            listed: HashMap::new(),
            names: HashSet::new(),
            arguments: HashSet::new(),
            links: BTreeMap::new(),
        }
    }

    fn run(mut self, roots: &[PathBuf]) -> io::Result<NaiveReport> {
        for root in roots {
            if let Ok(metadata) = self.root_metadata(root) {
                let (id, mount) = (file_id(&metadata), mount_id(root, &metadata)?);
                self.arguments.insert(Place { id, mount });
            }
        }
        for (index, root) in roots.iter().enumerate() {
            let path = root.as_os_str().as_bytes().to_vec();
            self.roots.push(RootReport {
                path,
                missing: false,
                counts: Counts::default(),
            });
            self.visit_root(index, root)?;
        }
        // Following one can find more, all of them later in path order.
        while let Some((_, link)) = self.links.pop_first() {
            self.follow_link(link)?;
        }
        Ok(sum_up(self.found, self.roots, self.options.count_links))
    }

    fn counts(&mut self, root: usize) -> &mut Counts {
        &mut self.roots[root].counts
    }

    fn visit_root(&mut self, root: usize, path: &Path) -> io::Result<()> {
        let metadata = match self.root_metadata(path) {
            Err(e) if is_missing(&e) => {
                self.roots[root].missing = true;
                return Ok(());
            }
            other => other,
        };
        // An argument that lies in an earlier one, or is one again. A directory
        // that was only named there (a crossing) is still to be counted.
        if let Ok(metadata) = &metadata
            && let Some(name) = name_of_root(path, metadata)?
        {
            let is_known = self.names.contains(&name);
            let is_listed = self.listed.contains_key(&file_id(metadata));
            if is_known && (!metadata.is_dir() || is_listed) {
                return Ok(());
            }
            self.names.insert(name);
        }
        let here = Here {
            root,
            place: None,
            parent: None,
            listed: None,
        };
        self.visit(path, metadata, here)
    }

    /// A root that is a link is followed at once; if it leads nowhere it is missing.
    fn root_metadata(&self, path: &Path) -> io::Result<Metadata> {
        match self.options.follow {
            true => fs::metadata(path),
            false => fs::symlink_metadata(path),
        }
    }

    /// Counts one entry, and if it is a directory all that it holds.
    fn visit(
        &mut self,
        path: &Path,
        metadata: io::Result<Metadata>,
        here: Here<'_>,
    ) -> io::Result<()> {
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(e) if e.raw_os_error() == Some(Errno::NAMETOOLONG.raw_os_error()) => {
                return Err(too_long(path));
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                self.counts(here.root).vanished += 1;
                return Ok(());
            }
            Err(e) => {
                let listed = here.listed.and_then(|entry| entry.file_type().ok());
                let entry_type = listed.map_or(EntryType::Unknown, entry_type);
                let found = self.push(path, entry_type, None, here);
                found.entry.error = Some(errno(&e));
                return Ok(());
            }
        };
        if self.options.follow && metadata.is_symlink() {
            let link = PendingLink {
                root: here.root,
                path: path.to_owned(),
                place: here.place,
                parent: here.parent,
            };
            let key = (here.root, InPathOrder(path.as_os_str().as_bytes().to_vec()));
            self.links.insert(key, link);
            return Ok(());
        }
        self.visit_readable(path, &metadata, here)
    }

    /// Counts an entry whose attributes are known.
    fn visit_readable(
        &mut self,
        path: &Path,
        metadata: &Metadata,
        here: Here<'_>,
    ) -> io::Result<()> {
        let entry_type = entry_type(metadata.file_type());
        let mount = mount_id(path, metadata)?;
        let place = Place {
            id: file_id(metadata),
            mount,
        };
        let is_directory = entry_type == EntryType::Directory;

        let begins_a_mount = here.place.is_some_and(|around| around.mount != mount);
        let is_other_device = here.place.is_some_and(|around| around.id.0 != place.id.0);
        let mut not_entered = None;
        if begins_a_mount && is_other_device && self.options.one_file_system {
            not_entered = Some(NotEntered::Crossing);
        } else if begins_a_mount
            && is_directory
            && !self.options.include_kernfs
            && is_kernel_file_system(path)?
        {
            not_entered = Some(NotEntered::KernelFileSystem);
        } else if is_directory && let Some(listed_by) = self.listed.get(&place.id) {
            not_entered = Some(match *listed_by == mount {
                true => NotEntered::ListedElsewhere,
                false => NotEntered::Crossing,
            });
        }
        let is_left_out = begins_a_mount
            && match not_entered {
                Some(NotEntered::Crossing) => self.options.one_file_system && is_other_device,
                Some(NotEntered::KernelFileSystem) => true,
                _ => false,
            };
        // It is another argument.
        if is_left_out && self.arguments.contains(&place) {
            if let Some(name) = name_of_root(path, metadata)? {
                self.names.remove(&name);
            }
            return Ok(());
        }
        match not_entered {
            Some(NotEntered::Crossing) => self.counts(here.root).crossings += 1,
            Some(NotEntered::KernelFileSystem) => self.counts(here.root).excluded += 1,
            Some(NotEntered::ListedElsewhere) | None => {}
        }

        let index = self.found.len();
        let found = self.push(path, entry_type, Some(metadata), here);
        found.entry.not_entered = not_entered;
        if !is_directory || not_entered.is_some() {
            return Ok(());
        }
        self.listed.insert(place.id, mount);
        self.list(
            path,
            index,
            Here {
                place: Some(place),
                parent: Some(index),
                ..here
            },
        )
    }

    /// Counts the entries of a directory, in the order of the names.
    fn list(&mut self, path: &Path, index: usize, here: Here<'_>) -> io::Result<()> {
        let mut children = Vec::new();
        let failure = match fs::read_dir(path) {
            Ok(listing) => listing
                .map(|child| child.map(|child| children.push(child)))
                .find_map(|outcome| outcome.err()),
            Err(e) => Some(e),
        };
        if let Some(e) = failure {
            if e.raw_os_error() == Some(Errno::NAMETOOLONG.raw_os_error()) {
                return Err(too_long(path));
            }
            self.found[index].entry.error = Some(errno(&e));
        }
        children.sort_by_key(fs::DirEntry::file_name);
        for child in children {
            let child_path = path.join(child.file_name());
            if self
                .options
                .exclude
                .is_some_and(|exclude| exclude(child_path.as_os_str().as_bytes()))
            {
                self.counts(here.root).excluded += 1;
                continue;
            }
            // Taken already only if an earlier argument was this very entry.
            if self.names.insert((here.place, child.file_name())) {
                let metadata = fs::symlink_metadata(&child_path);
                self.visit(
                    &child_path,
                    metadata,
                    Here {
                        listed: Some(&child),
                        ..here
                    },
                )?;
            }
        }
        Ok(())
    }

    fn follow_link(&mut self, link: PendingLink) -> io::Result<()> {
        let here = Here {
            root: link.root,
            place: link.place,
            parent: link.parent,
            listed: None,
        };
        let target = fs::metadata(&link.path);
        let error = match target {
            Ok(metadata) => {
                let index = self.found.len();
                self.visit_readable(&link.path, &metadata, here)?;
                self.found[index].is_followed_link = true;
                return Ok(());
            }
            Err(e) => e,
        };
        let leads_nowhere = [Errno::NOENT, Errno::LOOP, Errno::NOTDIR, Errno::NAMETOOLONG]
            .iter()
            .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()));
        if leads_nowhere {
            let metadata = fs::symlink_metadata(&link.path)?;
            self.visit_readable(&link.path, &metadata, here)?;
        } else {
            let found = self.push(&link.path, EntryType::Symlink, None, here);
            found.entry.error = Some(errno(&error));
        }
        Ok(())
    }

    fn push(
        &mut self,
        path: &Path,
        entry_type: EntryType,
        metadata: Option<&Metadata>,
        here: Here<'_>,
    ) -> &mut Found {
        self.found.push(Found {
            entry: NaiveEntry {
                root: here.root,
                path: path.as_os_str().as_bytes().to_vec(),
                entry_type,
                attributes: metadata.map(attributes),
                counted: false,
                error: None,
                not_entered: None,
            },
            parent: here.parent,
            id: metadata.map(file_id),
            is_followed_link: false,
        });
        self.found.last_mut().expect("something was pushed")
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn errno(error: &io::Error) -> i32 {
    error
        .raw_os_error()
        .expect("std::fs passes on what the kernel said")
}

fn too_long(path: &Path) -> io::Error {
    let bytes = path.as_os_str().len();
    let message =
        format!("a path of {bytes} bytes: the oracle speaks only of what a path can name");
    io::Error::new(io::ErrorKind::InvalidFilename, message)
}

/// The directory and the name of an argument. Absent for `/`, and if they are unknown.
fn name_of_root(path: &Path, metadata: &Metadata) -> io::Result<Option<Name>> {
    // A link that is not followed lies where its own directory is.
    let canonical = if metadata.is_symlink() {
        let directory = match path.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        };
        match (fs::canonicalize(directory), path.file_name()) {
            (Ok(directory), Some(name)) => directory.join(name),
            _ => return Ok(None),
        }
    } else {
        match fs::canonicalize(path) {
            Ok(canonical) => canonical,
            Err(_) => return Ok(None),
        }
    };
    let Some(name) = canonical.file_name() else {
        return Ok(Some((None, OsString::from_vec(b"/".to_vec()))));
    };
    let directory = canonical.parent().unwrap_or(Path::new("/"));
    let Ok(metadata) = fs::symlink_metadata(directory) else {
        return Ok(None);
    };
    let mount = mount_id(directory, &metadata)?;
    let place = Place {
        id: file_id(&metadata),
        mount,
    };
    Ok(Some((Some(place), OsStr::to_owned(name))))
}

fn file_id(metadata: &Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

fn attributes(metadata: &Metadata) -> NaiveAttributes {
    let nanos = u32::try_from(metadata.mtime_nsec()).expect("nanoseconds are below 10^9");
    NaiveAttributes {
        size_bytes: metadata.size(),
        blocks: metadata.blocks(),
        nlink: metadata.nlink(),
        ino: metadata.ino(),
        dev: metadata.dev(),
        mtime_ns: Timestamp {
            secs: metadata.mtime(),
            nanos,
        }
        .as_ns(),
        uid: metadata.uid(),
        gid: metadata.gid(),
        mode: metadata.mode(),
    }
}

fn entry_type(file_type: fs::FileType) -> EntryType {
    if file_type.is_dir() {
        EntryType::Directory
    } else if file_type.is_file() {
        EntryType::File
    } else if file_type.is_symlink() {
        EntryType::Symlink
    } else if file_type.is_fifo() {
        EntryType::Fifo
    } else if file_type.is_socket() {
        EntryType::Socket
    } else if file_type.is_char_device() {
        EntryType::CharDevice
    } else if file_type.is_block_device() {
        EntryType::BlockDevice
    } else {
        EntryType::Unknown
    }
}

/// The mount that the entry is seen through; `st_dev` where the kernel gives no mount id.
///
/// `metadata` shows whether a link at the end of `path` was followed.
fn mount_id(path: &Path, metadata: &Metadata) -> io::Result<u64> {
    let mut flags = AtFlags::NO_AUTOMOUNT;
    flags.set(AtFlags::SYMLINK_NOFOLLOW, metadata.is_symlink());
    let told = rustix::fs::statx(CWD, path, flags, StatxFlags::MNT_ID)?;
    let has_mount_id = told.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    Ok(if has_mount_id {
        told.stx_mnt_id
    } else {
        metadata.dev()
    })
}

/// The kernel's own trees, by `f_type` (include/uapi/linux/magic.h): those that ncdu leaves out.
///
/// The engine has a table of its own. The oracle must not share it: a wrong number
/// would be wrong on both sides.
fn is_kernel_file_system(path: &Path) -> io::Result<bool> {
    const MAGIC: [u32; 12] = [
        0x4249_4e4d, // binfmt_misc
        0xcafe_4a11, // bpf
        0x0027_e0eb, // cgroup
        0x6367_7270, // cgroup2
        0x6462_6720, // debugfs
        0x0000_1cd1, // devpts
        0x0000_9fa0, // proc
        0x6165_676c, // pstore
        0x7363_6673, // securityfs
        0xf97c_ff8c, // selinuxfs
        0x6265_6572, // sysfs
        0x7472_6163, // tracefs
    ];
    let f_type = rustix::fs::statfs(path)?.f_type;
    Ok(MAGIC.contains(&(f_type as u32)))
}
