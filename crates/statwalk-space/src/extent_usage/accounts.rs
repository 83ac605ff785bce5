// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sums of each directory: who has an extent, and to whom it counts.

use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};

use statwalk_sys::btrfs::{ExtentRef, ExtentRefs};
use statwalk_sys::fiemap::FileExtent;

use super::claims::Claims;
use super::survey::{Survey, Volume};
use super::{Compression, CompressionUsage, ExtentProgress, ExtentSums};
use crate::extents::{ExtentReader, Part, Piece, Subvolume};
use crate::inodes::InodeTable;

/// A part of a file on the device, with the index of its inode.
type PartOf = (Part, u32);

/// How many inodes or parts a worker takes at a time.
const CHUNK: usize = 8192;

/// The sums of a directory while they are made: `ExtentSums` in its order. A
/// subtraction makes some of them turn round at zero for a while.
type Counters = [AtomicU64; 4];

const DISK: usize = 0;
const EXCLUSIVE: usize = 1;
const REFERENCED: usize = 2;
const INLINE: usize = 3;

/// Sums that all workers add to.
pub(super) struct Accounts<'a, P> {
    table: &'a InodeTable,
    survey: &'a Survey,
    /// One for each directory, and one for all together.
    counters: Vec<Counters>,
    /// Extents, bytes on the device and bytes without compression.
    compression: [[AtomicU64; 3]; Compression::ALL.len()],
    claims: Claims,
    gone: AtomicU64,
    done: AtomicU64,
    of: AtomicU64,
    proceed: &'a P,
}

impl<'a, P: Fn(ExtentProgress) -> ControlFlow<()> + Sync> Accounts<'a, P> {
    pub(super) fn new(
        table: &'a InodeTable,
        survey: &'a Survey,
        proceed: &'a P,
    ) -> Accounts<'a, P> {
        let inodes = survey.starts.len() as u64 - 1;
        Accounts {
            table,
            survey,
            counters: (0..=table.dirs.len())
                .map(|_| Counters::default())
                .collect(),
            compression: Default::default(),
            claims: Claims::default(),
            gone: AtomicU64::new(0),
            done: AtomicU64::new(0),
            of: AtomicU64::new(2 * inodes),
            proceed,
        }
    }

    pub(super) fn add_volume(&self, volume: &Volume) -> io::Result<()> {
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
            let numbers: Vec<u64> = starts.iter().map(|&at| self.table.files[at].ino).collect();
            let mut referenced = vec![[0_u128; 2]; numbers.len()];
            let mut parts = Vec::new();
            reader.pieces(subvolume, &numbers, |index, piece| match piece {
                Piece::Inline { bytes } => referenced[index][1] += u128::from(bytes),
                Piece::OnDevice(part) => {
                    referenced[index][0] += u128::from(part.length_bytes);
                    parts.push((part, (first + index) as u32));
                }
            })?;
            let mut dirs = Vec::new();
            for (index, [on_device, inline]) in referenced.into_iter().enumerate() {
                dirs.clear();
                self.add_dirs(first + index, &mut dirs);
                self.claims.add(on_device + inline);
                // What does not fit is never shown.
                self.spread(&mut dirs, REFERENCED, on_device as u64);
                self.spread(&mut dirs, INLINE, inline as u64);
            }
            locked(&all).append(&mut parts);
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
            locked(&waiting).append(&mut of_one_file);
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
                let number = self.table.files[self.survey.starts[inode]].ino;
                let subvolume = volume.subvolume_of(inode);
                let told = &mut buffers.file_extents;
                let proceed = || self.tell(0);
                let reader = &volume.reader;
                let shared = reader.are_shared(subvolume, number, &sizes, told, proceed)?;
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
        self.claims
            .add(part.disk_bytes.max(part.plain_bytes).into());
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

    /// Whether all sums fit into 64 bits.
    pub(super) fn fit(&self) -> bool {
        self.claims.fit()
    }

    /// Extents that went away meanwhile.
    pub(super) fn gone(&self) -> u64 {
        self.gone.load(Relaxed)
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
    pub(super) fn sums(&self) -> (ExtentSums, Vec<ExtentSums>) {
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

    pub(super) fn compression(&self) -> Vec<CompressionUsage> {
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

/// Buffers that a worker uses again for each extent.
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
                locked(&failure).get_or_insert(error);
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..workers.min(count) {
            // One that cannot be started is one less: this one does all there is.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(()), Err)
}

/// Locks a list: each change leaves it whole, so a panic elsewhere does not close it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
