// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a tree truly takes on its file system, and what deleting it would free.
//!
//! Only btrfs can tell: its files share extents, which may be compressed, and the
//! blocks that stat shows know of neither.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::ops::{ControlFlow, Range};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, PoisonError};

use statwalk_sys::btrfs::{ExtentRef, ExtentRefs};
use statwalk_sys::fiemap::FileExtent;

use crate::directory::DirState;
use crate::error::{Error, Op};
use crate::sink::{FileAt, InodeTable};
use crate::source::btrfs::extents::{ExtentReader, Part, Piece, Subvolume, open_btrfs};

/// What a directory with all below it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtentSums {
    /// On the device, compressed, each extent once and as a whole, even where
    /// files have only a part of it. Copies that a RAID level keeps do not count.
    pub disk_bytes: u64,
    /// How much of that would be free if all of it were deleted: what no file
    /// elsewhere and no snapshot has.
    pub exclusive_bytes: u64,
    /// What its files have, without holes and compression; what several share
    /// counts for each. It is the `Total` of `btrfs filesystem du`.
    pub referenced_bytes: u64,
    /// Small files that lie in the tree itself; in none of the others.
    pub inline_bytes: u64,
}

impl ExtentSums {
    /// What others have as well.
    #[must_use]
    pub fn shared_bytes(&self) -> u64 {
        self.disk_bytes.saturating_sub(self.exclusive_bytes)
    }

    fn of([disk_bytes, exclusive_bytes, referenced_bytes, inline_bytes]: [u64; 4]) -> ExtentSums {
        ExtentSums {
            disk_bytes,
            exclusive_bytes,
            referenced_bytes,
            inline_bytes,
        }
    }
}

/// How extents are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// By zlib.
    Zlib,
    /// By LZO.
    Lzo,
    /// By Zstandard.
    Zstd,
    /// In a way that is not known here.
    Other,
}

impl Compression {
    const ALL: [Compression; 5] = [
        Compression::None,
        Compression::Zlib,
        Compression::Lzo,
        Compression::Zstd,
        Compression::Other,
    ];

    /// Its name, as on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Zlib => "zlib",
            Compression::Lzo => "lzo",
            Compression::Zstd => "zstd",
            Compression::Other => "other",
        }
    }
}

/// What is compressed in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompressionUsage {
    /// The way.
    pub compression: Compression,
    /// How many extents.
    pub extents: u64,
    /// What they take on the device.
    pub disk_bytes: u64,
    /// What they hold.
    pub plain_bytes: u64,
}

/// How far [`extent_usage`] is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ExtentProgress {
    /// Files and extents that were looked at.
    pub done: u64,
    /// Of how many, as far as that is known.
    pub of: u64,
}

/// What a tree takes on its file system.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExtentUsage {
    /// What all roots take together.
    pub total: ExtentSums,
    /// Each way of compression that there is; sums over them are those of `total`.
    pub compression: Vec<CompressionUsage>,
    /// The transactions that the answer is of, one for each file system, with a
    /// directory on it.
    pub generations: Vec<(PathBuf, u64)>,
    /// Files that lie on other file systems and are not in the sums.
    pub files_elsewhere: u64,
    /// Extents that went away meanwhile.
    pub extents_gone: u64,
    dirs: InodeTable,
    sums: Vec<ExtentSums>,
}

/// A directory of an [`ExtentUsage`].
#[derive(Clone, Copy, Debug)]
pub struct ExtentDir<'a> {
    usage: &'a ExtentUsage,
    index: u32,
}

impl ExtentUsage {
    /// The roots, in the order in which the scan had them.
    pub fn roots(&self) -> impl Iterator<Item = ExtentDir<'_>> {
        self.siblings(0, self.sums.len() as u32)
    }

    /// The directories that stand between two indices and are in none that does.
    fn siblings(&self, first: u32, end: u32) -> impl Iterator<Item = ExtentDir<'_>> {
        let next = move |&index: &u32| self.dirs.dirs.get(index as usize).map(|dir| dir.end);
        std::iter::successors(Some(first), next)
            .take_while(move |&index| index < end)
            .map(|index| ExtentDir { usage: self, index })
    }
}

impl<'a> ExtentDir<'a> {
    /// The directories in it, sorted by their names.
    pub fn children(&self) -> impl Iterator<Item = ExtentDir<'a>> + use<'a> {
        let end = self.usage.dirs.dirs[self.index as usize].end;
        self.usage.siblings(self.index + 1, end)
    }

    /// The name; for a root the path that the caller gave.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        self.usage.dirs.name(self.index)
    }

    /// The path, beginning with the root as the caller gave it.
    #[must_use]
    pub fn path(&self) -> Vec<u8> {
        self.usage.dirs.path(self.index)
    }

    /// The distance from the root, which is 0.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.usage.dirs.dirs[self.index as usize].depth
    }

    /// How far the scan read it.
    #[must_use]
    pub fn state(&self) -> DirState {
        self.usage.dirs.dirs[self.index as usize].state
    }

    /// What it takes with all below it.
    #[must_use]
    pub fn sums(&self) -> ExtentSums {
        self.usage.sums[self.index as usize]
    }
}

/// Finds what the files of a scan take on their file system.
///
/// The file system is synced first, so that what waits to be written counts. Each
/// extent is then looked up: how often it is used, and, where a snapshot may share
/// the part of the tree that says so, whether anybody else has it, or, where several
/// files of the scan do, who. So the answer for exclusive bytes is
/// exact for every directory, also where files of it share among themselves; what
/// changes while it is found out may be missed, and a doubtful extent with more than
/// 700,000 users is taken to be shared.
///
/// `proceed` is called every now and then, from any thread.
///
/// Memory: 48 bytes for each part of a file on the device, 24 more for each that a
/// snapshot may share and another 48 while its file is asked about, 32 for each name of
/// a file, 120 and its name for each directory.
///
/// # Errors
///
/// Returns an error if no file lies on a btrfs, if its trees cannot be searched,
/// which needs `CAP_SYS_ADMIN`, if the scan followed links, and if `proceed` breaks,
/// which is [`io::ErrorKind::Interrupted`].
///
/// # Platform behavior
///
/// Linux 4.15, `BTRFS_IOC_TREE_SEARCH_V2`, `BTRFS_IOC_LOGICAL_INO_V2` and
/// `FS_IOC_FIEMAP`: fs/btrfs/ioctl.c, fs/btrfs/backref.c, fs/btrfs/fiemap.c.
///
/// # Examples
///
/// ```no_run
/// use std::ops::ControlFlow;
/// use statwalk::{Inodes, Scan, extent_usage};
///
/// let inodes = Scan::new("/data").run(&Inodes)?.output;
/// let usage = extent_usage(inodes, |_| ControlFlow::Continue(()))?;
/// println!("{} bytes would be free", usage.total.exclusive_bytes);
/// # Ok::<(), statwalk::Error>(())
/// ```
pub fn extent_usage(
    inodes: InodeTable,
    proceed: impl Fn(ExtentProgress) -> ControlFlow<()> + Sync,
) -> Result<ExtentUsage, Error> {
    if inodes.follows {
        let error = "where links are followed nobody can tell what deleting a directory frees";
        return Err(Error::io(Op::Follow, None, io::Error::other(error)));
    }
    let survey = Survey::of(&inodes)?;
    let accounts = Accounts::new(&inodes, &survey, &proceed);
    for volume in &survey.volumes {
        let failed = |error| Error::io(Op::Read, Some(volume.path.clone()), error);
        accounts.add_volume(volume).map_err(failed)?;
    }
    let (total, sums) = accounts.sums();
    let compression = accounts.compression();
    let extents_gone = accounts.gone.load(Relaxed);
    let generation = |volume: &Volume| (volume.path.clone(), volume.reader.generation());
    Ok(ExtentUsage {
        total,
        compression,
        generations: survey.volumes.iter().map(generation).collect(),
        files_elsewhere: survey.files_elsewhere,
        extents_gone,
        dirs: inodes,
        sums,
    })
}

/// Which files lie where.
struct Survey {
    /// Where the names of each inode begin among the files, and at last their end.
    starts: Vec<usize>,
    volumes: Vec<Volume>,
    files_elsewhere: u64,
}

/// A file system.
struct Volume {
    path: PathBuf,
    reader: ExtentReader,
    subvolumes: Vec<(Subvolume, Range<usize>)>,
}

impl Volume {
    /// The subvolume of an inode that is on it.
    fn subvolume_of(&self, inode: usize) -> Subvolume {
        let mut all = self.subvolumes.iter();
        let found = all.find(|(_, inodes)| inodes.contains(&inode));
        found.expect("each inode lies in a subvolume").0
    }
}

impl Survey {
    fn of(table: &InodeTable) -> Result<Survey, Error> {
        let files = &table.files;
        let mut starts: Vec<usize> = (0..files.len())
            .filter(|&index| index == 0 || files[index].id != files[index - 1].id)
            .collect();
        starts.push(files.len());
        let mut survey = Survey {
            files_elsewhere: starts.len() as u64 - 1,
            starts,
            volumes: Vec::new(),
        };
        let mut other = None;
        for (dev, dir) in places(table) {
            let inodes = survey.inodes_of(table, dev);
            let path = table.path(dir);
            let as_path = || PathBuf::from(OsStr::from_bytes(&path));
            let failed = |error| Error::io(Op::Open, Some(as_path()), error);
            let Some(fd) = open_btrfs(&path, dev).map_err(failed)? else {
                other = other.or_else(|| Some(as_path()));
                continue;
            };
            let known = survey.volumes.iter().position(|v| v.reader.holds(&fd));
            let index = match known {
                Some(index) => index,
                None => {
                    survey.volumes.push(Volume {
                        path: as_path(),
                        reader: ExtentReader::new(&fd).map_err(failed)?,
                        subvolumes: Vec::new(),
                    });
                    survey.volumes.len() - 1
                }
            };
            let volume = &mut survey.volumes[index];
            let subvolume = volume.reader.subvolume(&fd).map_err(failed)?;
            survey.files_elsewhere -= inodes.len() as u64;
            volume.subvolumes.push((subvolume, inodes));
        }
        if !survey.volumes.is_empty() {
            return Ok(survey);
        }
        let root = || PathBuf::from(OsStr::from_bytes(&table.path(0)));
        let (path, reason) = match other {
            Some(path) => (Some(path), "it lies on no btrfs"),
            // What was not entered, or has no data.
            None => (
                (table.dir_count() > 0).then(root),
                "nothing on a btrfs was found there",
            ),
        };
        let error = io::Error::new(io::ErrorKind::Unsupported, reason);
        Err(Error::io(Op::Open, path, error))
    }

    /// The inodes that have this `st_dev`.
    fn inodes_of(&self, table: &InodeTable, dev: u64) -> Range<usize> {
        let inodes = &self.starts[..self.starts.len() - 1];
        let first_from = |dev| inodes.partition_point(|&at| table.files[at].id.dev < dev);
        first_from(dev)..dev.checked_add(1).map_or(inodes.len(), first_from)
    }

    /// An inode by its number, among those of a subvolume.
    fn inode(&self, table: &InodeTable, within: &Range<usize>, number: u64) -> Option<usize> {
        let inodes = &self.starts[within.clone()];
        let found = inodes.binary_search_by_key(&number, |&at| table.files[at].id.ino);
        found.ok().map(|index| within.start + index)
    }
}

/// A directory for each `st_dev` that there is, or a root that is a file, which can
/// be opened to know what lies there.
fn places(table: &InodeTable) -> BTreeMap<u64, u32> {
    let mut places = BTreeMap::new();
    for (index, dir) in table.dirs.iter().enumerate() {
        if let (DirState::Listed, Some(dev)) = (dir.state, dir.dev) {
            places.entry(dev).or_insert(index as u32);
        }
    }
    let of_roots = |file: &&FileAt| table.dirs[file.dir as usize].state == DirState::Argument;
    for file in table.files.iter().filter(of_roots) {
        places.entry(file.id.dev).or_insert(file.dir);
    }
    places
}

/// A part of a file on the device, with the index of its inode.
type PartOf = (Part, u32);

/// How many inodes or parts a worker takes at a time.
const CHUNK: usize = 8192;

/// The sums of a directory while they are made: `ExtentSums` in its order. What is
/// taken away again makes some of them turn round at zero for a while.
type Counters = [AtomicU64; 4];

const DISK: usize = 0;
const EXCLUSIVE: usize = 1;
const REFERENCED: usize = 2;
const INLINE: usize = 3;

/// Sums that all workers add to.
struct Accounts<'a, P> {
    table: &'a InodeTable,
    survey: &'a Survey,
    /// One for each directory, and one for all together.
    counters: Vec<Counters>,
    /// Extents, bytes on the device and bytes without compression.
    compression: [[AtomicU64; 3]; Compression::ALL.len()],
    gone: AtomicU64,
    done: AtomicU64,
    of: AtomicU64,
    proceed: &'a P,
}

impl<'a, P: Fn(ExtentProgress) -> ControlFlow<()> + Sync> Accounts<'a, P> {
    fn new(table: &'a InodeTable, survey: &'a Survey, proceed: &'a P) -> Accounts<'a, P> {
        let inodes = survey.starts.len() as u64 - 1;
        Accounts {
            table,
            survey,
            counters: (0..=table.dirs.len())
                .map(|_| Counters::default())
                .collect(),
            compression: Default::default(),
            gone: AtomicU64::new(0),
            done: AtomicU64::new(0),
            of: AtomicU64::new(2 * inodes),
            proceed,
        }
    }

    fn add_volume(&self, volume: &Volume) -> io::Result<()> {
        let mut parts = Vec::new();
        for (subvolume, inodes) in &volume.subvolumes {
            parts.append(&mut self.parts(&volume.reader, *subvolume, inodes)?);
        }
        // Until now each inode was taken to have one part.
        let inodes: usize = volume
            .subvolumes
            .iter()
            .map(|(_, inodes)| inodes.len())
            .sum();
        let more = (parts.len() as u64).wrapping_sub(inodes as u64);
        self.of.fetch_add(more, Relaxed);
        parts.sort_unstable_by_key(|(part, inode)| (part.address, *inode));
        self.add_extents(volume, &parts)
    }

    /// Reads what some inodes have, and adds what needs no look at others.
    fn parts(
        &self,
        reader: &ExtentReader,
        subvolume: Subvolume,
        inodes: &Range<usize>,
    ) -> io::Result<Vec<PartOf>> {
        let all = Mutex::new(Vec::new());
        let starts = &self.survey.starts[inodes.clone()];
        let chunks: Vec<&[usize]> = starts.chunks(CHUNK).collect();
        each_in_parallel(chunks.len(), |chunk| {
            let first = inodes.start + chunk * CHUNK;
            let starts = chunks[chunk];
            let numbers: Vec<u64> = starts
                .iter()
                .map(|&at| self.table.files[at].id.ino)
                .collect();
            let mut referenced = vec![[0; 2]; numbers.len()];
            let mut parts = Vec::new();
            reader.pieces(subvolume, &numbers, |index, piece| match piece {
                Piece::Inline { bytes } => referenced[index][1] += bytes,
                Piece::OnDevice(part) => {
                    // A tree can say anything.
                    let sum: &mut u64 = &mut referenced[index][0];
                    *sum = sum.wrapping_add(part.length_bytes);
                    parts.push((part, (first + index) as u32));
                }
            })?;
            let mut dirs = Vec::new();
            for (index, [on_device, inline]) in referenced.into_iter().enumerate() {
                dirs.clear();
                self.add_dirs(first + index, &mut dirs);
                self.spread(&mut dirs, REFERENCED, on_device);
                self.spread(&mut dirs, INLINE, inline);
            }
            all.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .append(&mut parts);
            self.tell(starts.len())
        })?;
        Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds extents, given by all parts of them that were found, in order.
    fn add_extents(&self, volume: &Volume, parts: &[PartOf]) -> io::Result<()> {
        let address = |index: usize| parts[index].0.address;
        let bounds = bounds(parts.len(), |a, b| address(a) == address(b));
        let waiting = Mutex::new(Vec::new());
        each_in_parallel(bounds.len() - 1, |chunk| {
            let range = bounds[chunk]..bounds[chunk + 1];
            let extents: Vec<&[PartOf]> = parts[range.clone()]
                .chunk_by(|a, b| a.0.address == b.0.address)
                .collect();
            let addresses: Vec<u64> = extents.iter().map(|extent| extent[0].0.address).collect();
            let counts = volume.reader.user_counts(&addresses)?;
            let mut buffers = Buffers::default();
            let mut of_one_file = Vec::new();
            let mut start = range.start;
            for (extent, users) in extents.into_iter().zip(counts) {
                let place = start..start + extent.len();
                start = place.end;
                let known = extent.len() as u64;
                let is_doubtful = extent.iter().any(|(part, _)| part.is_doubtful);
                let inode = extent[0].1;
                match users {
                    // Each user is an item, and not so many are in the scan.
                    Some(users) if users > known => self.add_extent(extent, false, &mut buffers),
                    Some(users) if users == known && !is_doubtful => {
                        self.add_extent(extent, true, &mut buffers);
                    }
                    Some(users) if users == known && extent[extent.len() - 1].1 == inode => {
                        of_one_file.push((inode, place));
                    }
                    // Several have it by a part of the tree that they share, or the
                    // count is that of another moment.
                    _ => self.add_doubtful(volume, extent, &mut buffers)?,
                }
            }
            waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .append(&mut of_one_file);
            self.tell(range.len())
        })?;
        let waiting = waiting.into_inner();
        self.add_of_one_file(
            volume,
            parts,
            waiting.unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Adds extents that only one file of the scan has, and perhaps snapshots of it.
    fn add_of_one_file(
        &self,
        volume: &Volume,
        parts: &[PartOf],
        mut extents: Vec<(u32, Range<usize>)>,
    ) -> io::Result<()> {
        self.of.fetch_add(extents.len() as u64, Relaxed);
        extents.sort_unstable_by_key(|(inode, place)| (*inode, place.start));
        let bounds = bounds(extents.len(), |a, b| extents[a].0 == extents[b].0);
        each_in_parallel(bounds.len() - 1, |chunk| {
            let extents = &extents[bounds[chunk]..bounds[chunk + 1]];
            let mut buffers = Buffers::default();
            for of_file in extents.chunk_by(|a, b| a.0 == b.0) {
                let inode = of_file[0].0 as usize;
                let sizes: Vec<(u64, u64)> = of_file
                    .iter()
                    .map(|(_, place)| &parts[place.start].0)
                    .map(|part| (part.address, part.disk_bytes))
                    .collect();
                let number = self.table.files[self.survey.starts[inode]].id.ino;
                let subvolume = volume.subvolume_of(inode);
                let told = &mut buffers.file_extents;
                let shared = volume.reader.are_shared(subvolume, number, &sizes, told);
                for ((_, place), shared) in of_file.iter().zip(shared) {
                    let extent = &parts[place.clone()];
                    match shared {
                        Some(false) => self.add_extent(extent, true, &mut buffers),
                        Some(true) if extent.len() == 1 => {
                            self.add_extent(extent, false, &mut buffers);
                        }
                        // It can be shared with the other places in the same file.
                        _ => self.add_doubtful(volume, extent, &mut buffers)?,
                    }
                }
            }
            self.tell(extents.len())
        })
    }

    /// Adds an extent after the kernel has named everybody who has it.
    fn add_doubtful(
        &self,
        volume: &Volume,
        extent: &[PartOf],
        buffers: &mut Buffers,
    ) -> io::Result<()> {
        let is_known = |user: ExtentRef| self.knows(volume, user);
        let address = extent[0].0.address;
        match volume
            .reader
            .all_users(address, &mut buffers.refs, is_known)?
        {
            Some(all_known) => self.add_extent(extent, all_known, buffers),
            None => {
                self.gone.fetch_add(1, Relaxed);
            }
        }
        Ok(())
    }

    /// Adds an extent. `is_ours` is whether nobody has it but files of the scan.
    fn add_extent(&self, extent: &[PartOf], is_ours: bool, buffers: &mut Buffers) {
        let part = &extent[0].0;
        let dirs = &mut buffers.dirs;
        dirs.clear();
        let mut last = None;
        let mut has_all_names = true;
        for &(_, inode) in extent {
            if last.replace(inode) != Some(inode) {
                has_all_names &= self.add_dirs(inode as usize, dirs);
            }
        }
        self.spread(dirs, DISK, part.disk_bytes);
        if is_ours && has_all_names {
            let (first, last) = (dirs[0], dirs[dirs.len() - 1]);
            self.add(self.lowest_above(first, last), EXCLUSIVE, part.disk_bytes);
        }
        let way = usize::from(part.compression).min(Compression::ALL.len() - 1);
        let counters = &self.compression[way];
        for (counter, more) in counters.iter().zip([1, part.disk_bytes, part.plain_bytes]) {
            counter.fetch_add(more, Relaxed);
        }
    }

    /// Whether a file that has an extent is one of the scan.
    fn knows(&self, volume: &Volume, found: ExtentRef) -> bool {
        volume.subvolumes.iter().any(|(subvolume, inodes)| {
            let inode = || self.survey.inode(self.table, inodes, found.inode);
            subvolume.tree == found.tree_id && inode().is_some()
        })
    }

    /// Adds the directories that have names of an inode, and returns whether these
    /// are all its names.
    fn add_dirs(&self, inode: usize, dirs: &mut Vec<u32>) -> bool {
        let names = &self.table.files[self.survey.starts[inode]..self.survey.starts[inode + 1]];
        dirs.extend(names.iter().map(|name| name.dir));
        names.len() as u64 >= u64::from(names[0].links)
    }

    /// Adds bytes to each directory above some, once to each.
    ///
    /// Sums of subtrees are made at the end. So what the next one adds again, from
    /// where both meet upwards, is taken away there.
    fn spread(&self, dirs: &mut Vec<u32>, column: usize, bytes: u64) {
        if bytes == 0 {
            return;
        }
        dirs.sort_unstable();
        dirs.dedup();
        for (index, &dir) in dirs.iter().enumerate() {
            self.add(dir, column, bytes);
            if index > 0 {
                let meeting = self.lowest_above(dirs[index - 1], dir);
                self.add(meeting, column, bytes.wrapping_neg());
            }
        }
    }

    fn add(&self, dir: u32, column: usize, bytes: u64) {
        self.counters[dir as usize][column].fetch_add(bytes, Relaxed);
    }

    /// The lowest directory that has both in it, of which the first does not stand
    /// after the second; the number of directories where there is none.
    fn lowest_above(&self, first: u32, second: u32) -> u32 {
        let dirs = &self.table.dirs;
        let mut at = first;
        while second >= dirs[at as usize].end {
            match dirs[at as usize].parent {
                Some(parent) => at = parent,
                None => return dirs.len() as u32,
            }
        }
        at
    }

    fn tell(&self, more: usize) -> io::Result<()> {
        let done = self.done.fetch_add(more as u64, Relaxed) + more as u64;
        let of = self.of.load(Relaxed).max(done);
        match (self.proceed)(ExtentProgress { done, of }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(io::ErrorKind::Interrupted.into()),
        }
    }

    /// The sums of all together, and of each directory with all below it.
    fn sums(&self) -> (ExtentSums, Vec<ExtentSums>) {
        let dirs = &self.table.dirs;
        let load = |counters: &Counters| [0, 1, 2, 3].map(|column| counters[column].load(Relaxed));
        let mut sums: Vec<[u64; 4]> = self.counters.iter().map(load).collect();
        for index in (0..dirs.len()).rev() {
            let above = dirs[index]
                .parent
                .map_or(dirs.len(), |parent| parent as usize);
            let below = sums[index];
            for (sum, more) in sums[above].iter_mut().zip(below) {
                *sum = sum.wrapping_add(more);
            }
        }
        let total = sums
            .pop()
            .expect("the last counters are those of all together");
        (
            ExtentSums::of(total),
            sums.into_iter().map(ExtentSums::of).collect(),
        )
    }

    fn compression(&self) -> Vec<CompressionUsage> {
        let ways = Compression::ALL.into_iter().zip(&self.compression);
        let usages = ways.map(|(compression, counters)| CompressionUsage {
            compression,
            extents: counters[0].load(Relaxed),
            disk_bytes: counters[1].load(Relaxed),
            plain_bytes: counters[2].load(Relaxed),
        });
        usages.filter(|usage| usage.extents > 0).collect()
    }
}

/// What a worker uses again for each extent.
#[derive(Default)]
struct Buffers {
    refs: ExtentRefs,
    file_extents: Vec<FileExtent>,
    dirs: Vec<u32>,
}

/// Where chunks of some things begin, and at last their end. Things that belong
/// together are in one.
fn bounds(count: usize, belong_together: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut bounds = vec![0];
    while let Some(&start) = bounds.last().filter(|&&start| start < count) {
        let mut end = (start + CHUNK).min(count);
        while end < count && belong_together(end - 1, end) {
            end += 1;
        }
        bounds.push(end);
    }
    bounds
}

/// Calls for each of some numbers, on all processors, until one fails.
fn each_in_parallel(count: usize, task: impl Fn(usize) -> io::Result<()> + Sync) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let work = || {
        while let number = next.fetch_add(1, Relaxed)
            && number < count
        {
            if let Err(error) = task(number) {
                next.store(count, Relaxed);
                failure
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(error);
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..workers.min(count) {
            scope.spawn(work);
        }
        work();
    });
    let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(()), Err)
}
