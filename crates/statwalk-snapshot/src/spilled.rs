// SPDX-License-Identifier: MIT OR Apache-2.0

//! Makes the tables of a snapshot from rows on the disk.
//!
//! Directories are numbered in memory. All rows are sorted on the disk by the number of their
//! directory and their name, and so are the names of inodes with several. A first pass over the
//! sorted rows gives the sums of each directory alone. A walk backwards brings them up, through
//! a file of fixed records. A second pass writes `entries`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use statwalk_format::FileType;

use crate::disk_sort::{DiskSort, Records, Sorted};
use crate::error::Error;
use crate::file_systems::FileSystems;
use crate::fill::{
    DirFacts, Group, hash_row, write_dirs, write_errors, write_file_systems, write_owners,
};
use crate::first_names::{behind_links, may_repeat};
use crate::folder::Folder;
use crate::listing::ListingHash;
use crate::machine::Machine;
use crate::manifest::{Facts, FileRecord, Links, Manifest, Tables};
use crate::merge::{MergeOptions, manifest};
use crate::numbering::NONE;
use crate::part::{Rows, mark};
use crate::row_code::{HEAD_BYTES, Layout, lengths, push_record, read_row};
use crate::schema::{PATH_BYTES_MAX, TableName};
use crate::scratch_file::scratch_file;
use crate::spool::Spill;
use crate::sums::{EntryFacts, Sums, latest_ns};
use crate::table_writer::TableWriter;
use crate::tree::{TAG_NAME, Tree};

/// The memory for rows that are sorted.
const ROWS_BYTES: usize = 32 << 20;

/// The memory for names that are sorted.
const NAMES_BYTES: usize = 8 << 20;

/// The bytes of a record of sums.
const RECORD_BYTES: usize = 80;

/// How many records of sums are read or written at once.
const RECORDS_AT_ONCE: usize = 4096;

/// A merge of rows on the disk.
pub(crate) struct Spilled<'a> {
    tree: Tree<'a>,
    layout: Layout,
    sorted: Sorted,
    /// The names whose bytes count elsewhere.
    extra: Sorted,
    file_systems: FileSystems,
    /// The place of each directory's row among those of its parent.
    ranks: Vec<u32>,
    /// Directories with a regular file that has the name of a tag.
    tagged: Vec<u32>,
    root_rows: Vec<Option<u64>>,
}

/// The rows in their order, each with its facts.
struct Walk<'s> {
    layout: Layout,
    rows: Records<'s>,
    extra: Records<'s>,
    /// The key of the next name that counts elsewhere.
    next_extra: Option<Vec<u8>>,
}

/// The facts about a row beside its columns.
struct RowFacts {
    /// The number of its directory; [`NONE`] for a root.
    dir: u32,
    child: u32,
    counts: bool,
}

/// The sums of a directory, and the hash of its rows.
#[derive(Clone, Copy, Default)]
struct Record {
    sums: Sums,
    listing: i64,
}

impl<'a> Spilled<'a> {
    /// Writes the tables.
    pub(crate) fn merge(
        mut spill: Spill,
        facts: Facts,
        machine: &mut dyn Machine,
        folder: &Folder,
        options: &MergeOptions,
    ) -> Result<Manifest, Error> {
        let mut dirs = std::mem::take(&mut spill.dirs);
        if facts.interrupted
            && let Some(places) = dirs.drop_orphans()
        {
            spill.devs = places.iter().map(|&at| spill.devs[at]).collect();
        }
        let mut tree = Tree::of(&dirs, &facts)?;
        tree.numbering.forget_rows();
        let (sorted, extra) = sort(&mut spill, &mut tree, &dirs.rows, &facts, folder.path())?;
        tree.numbering.forget_search();
        let mut file_systems = FileSystems::default();
        for &at in &tree.numbering.dirs {
            // Those without a device have a place that none has.
            if let Some(&dev) = spill.all_devs.get(spill.devs[at as usize] as usize) {
                file_systems.add(dev, machine);
            }
        }
        let (uids, gids) = (
            std::mem::take(&mut spill.uids),
            std::mem::take(&mut spill.gids),
        );
        let mut merge = Spilled {
            ranks: vec![0; tree.numbering.len()],
            layout: spill.layout,
            tree,
            sorted,
            extra,
            file_systems,
            tagged: Vec::new(),
            root_rows: vec![None; facts.roots.len()],
        };
        drop(spill);
        let (own, total) = merge.own_sums(folder.path(), machine, latest_ns(&facts))?;
        let (sums, total) = merge.bring_up(&own, total, folder.path())?;
        drop(own);
        let tables = Tables {
            entries: merge.write_entries(folder, &sums, options)?,
            dirs: merge.write_dirs(folder, &sums, machine)?,
            errors: write_errors(&merge.tree.errors, folder)?,
            owners: write_owners((&uids, &gids), folder, machine)?,
            filesystems: write_file_systems(&merge.file_systems.all, folder)?,
        };
        let devices = merge.file_systems.devices;
        let root_rows = merge.root_rows;
        Ok(manifest(
            facts,
            &merge.tree,
            &total,
            devices,
            root_rows,
            tables,
        ))
    }

    fn walk(&self) -> Result<Walk<'_>, Error> {
        let mut walk = Walk {
            layout: self.layout,
            rows: self.sorted.records()?,
            extra: self.extra.records()?,
            next_extra: None,
        };
        walk.next_extra()?;
        Ok(walk)
    }

    /// Writes the sums of the rows of each directory, by number. Gives those of roots, too.
    fn own_sums(
        &mut self,
        folder: &Path,
        machine: &mut dyn Machine,
        latest_ns: i64,
    ) -> Result<(File, Sums), Error> {
        let mut file_systems = std::mem::take(&mut self.file_systems);
        let (mut ranks, mut tagged) = (std::mem::take(&mut self.ranks), Vec::new());
        let mut root_rows = std::mem::take(&mut self.root_rows);
        let mut writer = RecordWriter::new(folder)?;
        let (mut total, mut place) = (Sums::default(), 0);
        let mut walk = self.walk()?;
        let mut rows = Rows::default();
        let (mut dir, mut own, mut hash, mut rank) = (NONE, Sums::default(), ListingHash::new(), 0);
        loop {
            rows.clear();
            let Some(facts) = walk.next_row(&mut rows)? else {
                break;
            };
            if facts.dir == NONE {
                total.add_entry(&EntryFacts::of(&rows, 0, facts.counts), latest_ns);
                let row = root_rows[rows.dirs[0] as usize].replace(place);
                if row.is_some() {
                    return Err(Error::unfit("two rows are one root"));
                }
                place += 1;
            }
            if facts.dir != dir {
                if dir != NONE {
                    writer.push_at(dir, &Record::new(own, &hash))?;
                }
                (dir, own, hash, rank) = (facts.dir, Sums::default(), ListingHash::new(), 0);
            }
            if let Some(dev) = rows.of(&rows.devs, 0) {
                file_systems.add(dev, machine);
            }
            if facts.dir != NONE {
                own.add_entry(&EntryFacts::of(&rows, 0, facts.counts), latest_ns);
                hash_row((&rows, 0), facts.counts, &file_systems, &mut hash);
                if rows.kind(0) == FileType::File && rows.name(0) == TAG_NAME {
                    tagged.push(facts.dir);
                }
                if facts.child != NONE {
                    ranks[facts.child as usize] = rank;
                }
                rank += 1;
            }
        }
        if dir != NONE {
            writer.push_at(dir, &Record::new(own, &hash))?;
        }
        drop(walk);
        let file = writer.end(self.tree.numbering.len() as u32)?;
        (self.file_systems, self.ranks) = (file_systems, ranks);
        (self.tagged, self.root_rows) = (tagged, root_rows);
        Ok((file, total))
    }

    /// Writes the sums below each directory, by number, from those of its rows.
    fn bring_up(&self, own: &File, mut total: Sums, folder: &Path) -> Result<(File, Sums), Error> {
        let sums = scratch_file(folder)?;
        let parents = &self.tree.numbering.parents;
        // The directories above the one at hand that have sums from below.
        let mut above: Vec<(u32, Sums)> = Vec::new();
        let mut end = parents.len();
        while end > 0 {
            let begin = end.saturating_sub(RECORDS_AT_ONCE);
            let mut records = read_records(own, begin, end - begin)?;
            for at in (0..records.len()).rev() {
                let number = (begin + at) as u32;
                if let Some((_, below)) = above.pop_if(|(other, _)| *other == number) {
                    records[at].sums.add(&below);
                }
                let below = records[at].sums;
                match (parents[number as usize], above.last_mut()) {
                    (NONE, _) => total.add(&below),
                    (parent, Some((other, sums))) if *other == parent => sums.add(&below),
                    (parent, _) => above.push((parent, below)),
                }
            }
            write_records(&sums, begin, &records)?;
            end = begin;
        }
        Ok((sums, total))
    }

    fn write_entries(
        &self,
        folder: &Folder,
        sums: &File,
        options: &MergeOptions,
    ) -> Result<Vec<FileRecord>, Error> {
        let mut writer = TableWriter::new(TableName::Entries)?;
        let mut walk = self.walk()?;
        let mut rows = Rows::default();
        let (mut of_rows, mut children, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut below: Vec<(u32, Sums)> = Vec::new();
        let order: Vec<u32> = (0..TableName::Entries.group_rows() as u32).collect();
        loop {
            rows.clear();
            of_rows.clear();
            children.clear();
            counts.clear();
            below.clear();
            while rows.len() < order.len()
                && let Some(facts) = walk.next_row(&mut rows)?
            {
                if facts.child != NONE {
                    let record = read_records(sums, facts.child as usize, 1)?;
                    below.push((facts.child, record[0].sums));
                }
                of_rows.push(facts.dir);
                children.push(facts.child);
                counts.push(facts.counts);
            }
            if rows.len() == 0 {
                break;
            }
            below.sort_unstable_by_key(|&(child, _)| child);
            let sums = |child| {
                let found = below.binary_search_by_key(&child, |&(child, _)| child);
                found.ok().map(|at| below[at].1)
            };
            let group = Group {
                rows: &rows,
                order: &order[..rows.len()],
                of_rows: &of_rows,
                children: &children,
                counts: &counts,
                sums: &sums,
                file_systems: &self.file_systems,
                keeps_access_times: options.access_times,
            };
            writer.group(folder, rows.len(), |column, cells| {
                group.fill(column, cells)
            })?;
        }
        writer.finish(folder)
    }

    fn write_dirs(
        &self,
        folder: &Folder,
        sums: &File,
        machine: &mut dyn Machine,
    ) -> Result<Vec<FileRecord>, Error> {
        let (tree, numbering) = (&self.tree, &self.tree.numbering);
        let mut writer = TableWriter::new(TableName::Dirs)?;
        let mut begin = 0;
        while begin < numbering.len() {
            let count = (numbering.len() - begin).min(TableName::Dirs.group_rows());
            let records = read_records(sums, begin, count)?;
            let mut dirs = Vec::with_capacity(count);
            for (at, record) in (begin..).zip(&records) {
                let number = at as u32;
                let parent = numbering.parents[at];
                let entry = match parent {
                    NONE => self.root_rows[tree.roots[at] as usize].unwrap_or(0),
                    parent => numbering.first_entries[parent as usize] + u64::from(self.ranks[at]),
                };
                let first_entry = numbering.first_entries[at];
                let has_tag = self.tagged.binary_search(&number).is_ok();
                dirs.push(DirFacts {
                    number,
                    last: numbering.lasts[at],
                    parent,
                    root: tree.roots[at],
                    entry,
                    path: tree.path(number, PATH_BYTES_MAX),
                    first_entry,
                    entry_count: numbering.first_entries[at + 1] - first_entry,
                    state: tree.state(at),
                    is_incomplete: tree.is_incomplete(number),
                    is_finished: tree.is_finished(number),
                    cachedir_tag: tree.cachedir_tag(number, has_tag, machine),
                    sums: record.sums,
                    missing: tree.missing(number),
                    listing: record.listing,
                });
            }
            write_dirs(&mut writer, folder, &dirs)?;
            begin += count;
        }
        writer.finish(folder)
    }
}

/// Sorts all rows, and finds the names whose bytes count elsewhere. Notes where the rows of each
/// directory begin.
fn sort(
    spill: &mut Spill,
    tree: &mut Tree<'_>,
    dirs: &Rows,
    facts: &Facts,
    folder: &Path,
) -> Result<(Sorted, Sorted), Error> {
    let numbering = &tree.numbering;
    let mut sorted = DiskSort::new(folder, ROWS_BYTES);
    let mut names = DiskSort::new(folder, NAMES_BYTES);
    let behind = if facts.follows {
        behind_links(dirs, numbering)
    } else {
        Vec::new()
    };
    let mut counts = vec![0_u64; numbering.len() + 1];
    let layout = spill.layout;
    let mut one = Rows::default();
    spill.for_each(|is_root, id, name, value| {
        let no_directory = || Error::unfit("a row belongs to a directory that has no row");
        let number = match (is_root, numbering.number(id)) {
            (true, _) => NONE,
            (false, Some(number)) => number,
            (false, None) if facts.interrupted => return Ok(()),
            (false, None) => return Err(no_directory()),
        };
        if is_root && id as usize >= facts.roots.len() {
            return Err(Error::unfit("a root is not one of the scan"));
        }
        counts[number.wrapping_add(1) as usize] += 1;
        one.clear();
        let child = read_row(layout, (id, name), value, &mut one)?;
        let child = numbering
            .number(child)
            .filter(|_| child != NONE)
            .unwrap_or(NONE);
        let (group, root) = (number.wrapping_add(1).to_be_bytes(), id.to_be_bytes());
        let root = if is_root { &root[..] } else { &[] };
        sorted.push(|to| {
            push_record(to, &[&group, root, name], |to| {
                to.extend_from_slice(&child.to_le_bytes());
                to.extend_from_slice(&value[4..]);
            });
        })?;
        let has_names = !one.inos.is_empty() && !one.links.is_empty();
        if facts.links == Links::Each || !has_names || !may_repeat(&one, 0, facts.follows) {
            return Ok(());
        }
        let is_above_behind = behind.get(number as usize).copied().unwrap_or(false);
        let is_behind = is_above_behind || (facts.follows && one.has(0, mark::FOLLOWED));
        let (of_root, place) = match number {
            NONE => (id, (0, 0)),
            number => (
                tree.roots[number as usize],
                numbering.place(dirs, number, name),
            ),
        };
        let key = [
            &one.devs[0].to_be_bytes()[..],
            &one.inos[0].to_be_bytes(),
            &[u8::from(is_behind)],
            &of_root.to_be_bytes(),
            &place.0.to_be_bytes(),
            &place.1.to_be_bytes(),
            name,
        ];
        names.push(|to| {
            push_record(to, &key, |to| {
                to.extend_from_slice(&group);
                to.extend_from_slice(root);
            });
        })
    })?;
    // Where the rows of a directory begin, from how many each has.
    let mut begin = 0;
    for count in &mut counts {
        begin += *count;
        *count = begin;
    }
    tree.numbering.first_entries = counts;
    Ok((sorted.finish()?, extra_names(&names.finish()?, folder)?))
}

/// The keys of the rows of all names but the first of each inode.
fn extra_names(names: &Sorted, folder: &Path) -> Result<Sorted, Error> {
    /// The bytes of device and inode number, and of all before the name.
    const INODE_BYTES: usize = 16;
    const PLACE_BYTES: usize = INODE_BYTES + 1 + 3 * 4;
    let mut extra = DiskSort::new(folder, NAMES_BYTES);
    let mut records = names.records()?;
    let mut last: Option<Vec<u8>> = None;
    loop {
        let next = records.next_record(|record| {
            let (key_bytes, _) = lengths(record);
            let (key, value) = record[HEAD_BYTES..].split_at(key_bytes);
            let (inode, name) = (&key[..INODE_BYTES], &key[PLACE_BYTES..]);
            if last.as_deref() == Some(inode) {
                return extra.push(|to| push_record(to, &[value, name], |_| {}));
            }
            last = Some(inode.to_vec());
            Ok(())
        })?;
        match next {
            Some(pushed) => pushed?,
            None => return extra.finish(),
        }
    }
}

impl Walk<'_> {
    fn next_extra(&mut self) -> Result<(), Error> {
        self.next_extra = self
            .extra
            .next_record(|record| record[HEAD_BYTES..].to_vec())?;
        Ok(())
    }

    /// Adds the next row to those before; nothing after the last.
    fn next_row(&mut self, rows: &mut Rows) -> Result<Option<RowFacts>, Error> {
        let (layout, extra) = (self.layout, self.next_extra.as_deref());
        let next = self.rows.next_record(|record| {
            let (key_bytes, _) = lengths(record);
            let (key, value) = record[HEAD_BYTES..].split_at(key_bytes);
            let is_extra = extra == Some(key);
            let (group, name) = key.split_at(4);
            let group = u32::from_be_bytes([group[0], group[1], group[2], group[3]]);
            let dir = group.wrapping_sub(1);
            let (holder, name) = match dir {
                NONE => {
                    let (root, name) = name.split_at(4);
                    (
                        u32::from_be_bytes([root[0], root[1], root[2], root[3]]),
                        name,
                    )
                }
                dir => (dir, name),
            };
            let child = read_row(layout, (holder, name), value, rows)?;
            Ok::<_, Error>((dir, child, is_extra))
        })?;
        let Some((dir, child, is_extra)) = next.transpose()? else {
            return Ok(None);
        };
        if is_extra {
            self.next_extra()?;
        }
        Ok(Some(RowFacts {
            dir,
            child,
            counts: !is_extra,
        }))
    }
}

impl Record {
    fn new(sums: Sums, hash: &ListingHash) -> Record {
        Record {
            sums,
            listing: hash.finish(),
        }
    }

    fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        let Sums {
            entries,
            files,
            dirs,
            size_bytes,
            allocated_bytes,
            newest_ns,
        } = self.sums;
        bytes[0..8].copy_from_slice(&entries.to_le_bytes());
        bytes[8..16].copy_from_slice(&files.to_le_bytes());
        bytes[16..24].copy_from_slice(&dirs.to_le_bytes());
        bytes[24..40].copy_from_slice(&size_bytes.to_le_bytes());
        bytes[40..56].copy_from_slice(&allocated_bytes.to_le_bytes());
        bytes[56..64].copy_from_slice(&self.listing.to_le_bytes());
        bytes[64..72].copy_from_slice(&newest_ns.unwrap_or(0).to_le_bytes());
        bytes[72] = u8::from(newest_ns.is_some());
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Record {
        let eight = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[at..at + 8]);
            number
        };
        let sixteen = |at: usize| {
            let mut number = [0; 16];
            number.copy_from_slice(&bytes[at..at + 16]);
            number
        };
        Record {
            sums: Sums {
                entries: u64::from_le_bytes(eight(0)),
                files: u64::from_le_bytes(eight(8)),
                dirs: u64::from_le_bytes(eight(16)),
                size_bytes: u128::from_le_bytes(sixteen(24)),
                allocated_bytes: u128::from_le_bytes(sixteen(40)),
                newest_ns: (bytes[72] == 1).then(|| i64::from_le_bytes(eight(64))),
            },
            listing: i64::from_le_bytes(eight(56)),
        }
    }
}

/// Writes records by number, in ascending order.
struct RecordWriter {
    file: File,
    records: Vec<Record>,
    written: usize,
}

impl RecordWriter {
    fn new(folder: &Path) -> Result<RecordWriter, Error> {
        Ok(RecordWriter {
            file: scratch_file(folder)?,
            records: Vec::new(),
            written: 0,
        })
    }

    /// Adds the record of a number, and those of directories without rows before it.
    fn push_at(&mut self, number: u32, record: &Record) -> Result<(), Error> {
        self.fill_to(number)?;
        self.push(*record)
    }

    fn fill_to(&mut self, number: u32) -> Result<(), Error> {
        let nothing = Record::new(Sums::default(), &ListingHash::new());
        while self.written + self.records.len() < number as usize {
            self.push(nothing)?;
        }
        Ok(())
    }

    fn push(&mut self, record: Record) -> Result<(), Error> {
        self.records.push(record);
        match self.records.len() == RECORDS_AT_ONCE {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), Error> {
        write_records(&self.file, self.written, &self.records)?;
        self.written += self.records.len();
        self.records.clear();
        Ok(())
    }

    /// Ends with so many records.
    fn end(mut self, count: u32) -> Result<File, Error> {
        self.fill_to(count)?;
        self.flush()?;
        Ok(self.file)
    }
}

fn read_records(file: &File, first: usize, count: usize) -> Result<Vec<Record>, Error> {
    let mut bytes = vec![0; count * RECORD_BYTES];
    let read = file.read_exact_at(&mut bytes, (first * RECORD_BYTES) as u64);
    read.map_err(|error| Error::io("read sums of the merge", Path::new(""), error))?;
    Ok(bytes
        .chunks_exact(RECORD_BYTES)
        .map(Record::of_bytes)
        .collect())
}

fn write_records(file: &File, first: usize, records: &[Record]) -> Result<(), Error> {
    let bytes: Vec<u8> = records
        .iter()
        .flat_map(|record| record.to_bytes())
        .collect();
    let written = file.write_all_at(&bytes, (first * RECORD_BYTES) as u64);
    written.map_err(|error| Error::io("write sums of the merge", Path::new(""), error))
}
