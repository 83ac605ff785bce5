// SPDX-License-Identifier: MIT OR Apache-2.0

//! Makes the tables of a snapshot from the rows of a scan in memory.

use std::collections::BTreeSet;

use statwalk_format::FileType;

use crate::error::Error;
use crate::file_systems::FileSystems;
use crate::fill::{
    DirFacts, Group, hash_row, write_dirs, write_errors, write_file_systems, write_owners,
};
use crate::first_names::counting;
use crate::folder::Folder;
use crate::listing::ListingHash;
use crate::machine::Machine;
use crate::manifest::{Counts, Facts, FileRecord, Manifest, Root, Tables};
use crate::numbering::{NONE, Numbering};
use crate::part::{Part, Rows, mark};
use crate::schema::{PATH_BYTES_MAX, TableName};
use crate::sums::{Sums, latest_ns, sums};
use crate::table_writer::TableWriter;
use crate::tree::{TAG_NAME, Tree};

/// Options of [`merge`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeOptions {
    /// Keep the times of the last access. Two snapshots of the same tree differ by them.
    pub access_times: bool,
    /// Store a scan that was interrupted.
    pub partial: bool,
}

/// Writes the tables of a snapshot into a folder. [`Folder::finish`] takes the manifest.
///
/// The same tree at rest gives the same bytes of `entries`, `dirs`, `errors` and `owners`, in
/// whatever order the rows come.
///
/// Rows of an interrupted scan whose directory did not come are left out.
///
/// # Errors
///
/// Returns an error if the rows contradict each other, if the scan was interrupted and `partial`
/// is not set, or if the disk does not take the files.
pub fn merge(
    part: &Part,
    facts: Facts,
    machine: &mut dyn Machine,
    folder: &Folder,
    options: &MergeOptions,
) -> Result<Manifest, Error> {
    may_store(&facts, options)?;
    let mut whole = Part::new();
    let mut part = part;
    if facts.interrupted {
        whole.clone_from(part);
        whole.drop_orphans();
        part = &whole;
    }
    let tree = Tree::of(part, &facts)?;
    let merge = Merge::of(part, tree, &facts, machine, *options);
    let tables = Tables {
        entries: merge.write_entries(folder)?,
        dirs: merge.write_dirs(folder, machine)?,
        errors: write_errors(&merge.tree.errors, folder)?,
        owners: merge.write_owners(folder, machine)?,
        filesystems: write_file_systems(&merge.file_systems.all, folder)?,
    };
    let mut root_rows = vec![None; facts.roots.len()];
    let of_roots = merge.tree.numbering.order.iter().zip(0..);
    let is_root = |row: u32| merge.rows.has(row as usize, mark::ROOT);
    for (&row, place) in of_roots.take_while(|(row, _)| is_root(**row)) {
        root_rows[merge.rows.dirs[row as usize] as usize] = Some(place);
    }
    let (tree, devices) = (&merge.tree, merge.file_systems.devices);
    Ok(manifest(
        facts,
        tree,
        &merge.total,
        devices,
        root_rows,
        tables,
    ))
}

/// Refuses a scan that ended early, unless the caller wants it.
pub(crate) fn may_store(facts: &Facts, options: &MergeOptions) -> Result<(), Error> {
    match facts.interrupted && !options.partial {
        true => Err(Error::unfit("the scan was interrupted")),
        false => Ok(()),
    }
}

/// The manifest of the tables.
pub(crate) fn manifest(
    facts: Facts,
    tree: &Tree<'_>,
    total: &Sums,
    devices: Vec<Vec<u64>>,
    root_rows: Vec<Option<u64>>,
    tables: Tables,
) -> Manifest {
    let is_whole = |root: &Root| {
        root.missing.is_none()
            && !root.interrupted
            && root.unreadable == 0
            && root.changed_dirs == 0
    };
    let missing = tree.total_missing;
    Manifest {
        complete: !facts.interrupted && facts.roots.iter().all(is_whole) && missing.is_whole(),
        counts: Counts {
            entries: total.entries,
            dirs: total.dirs,
            files: total.files,
            size_bytes: total.size_bytes,
            allocated_bytes: total.allocated_bytes,
        },
        missing,
        devices,
        root_rows,
        facts,
        tables,
    }
}

/// All that is known before the first row is written.
struct Merge<'a> {
    rows: &'a Rows,
    tree: Tree<'a>,
    options: MergeOptions,
    counts: Vec<bool>,
    sums: Vec<Sums>,
    total: Sums,
    file_systems: FileSystems,
    /// The number of the directory that each row is; [`NONE`] for others.
    children: Vec<u32>,
}

impl<'a> Merge<'a> {
    fn of(
        part: &'a Part,
        tree: Tree<'a>,
        facts: &Facts,
        machine: &mut dyn Machine,
        options: MergeOptions,
    ) -> Merge<'a> {
        let (rows, numbering) = (&part.rows, &tree.numbering);
        let counts = counting(rows, numbering, &tree.roots, (facts.links, facts.follows));
        let (sums, total) = sums(rows, numbering, &counts, latest_ns(facts));
        let file_systems = file_systems(rows, numbering, machine);
        let mut children = vec![NONE; rows.len()];
        for (number, &row) in numbering.rows.iter().enumerate() {
            children[row as usize] = number as u32;
        }
        Merge {
            rows,
            tree,
            options,
            counts,
            sums,
            total,
            file_systems,
            children,
        }
    }

    fn write_entries(&self, folder: &Folder) -> Result<Vec<FileRecord>, Error> {
        let numbering = &self.tree.numbering;
        let mut writer = TableWriter::new(TableName::Entries)?;
        for order in numbering.order.chunks(TableName::Entries.group_rows()) {
            let group = Group {
                rows: self.rows,
                order,
                of_rows: &numbering.of_rows,
                children: &self.children,
                counts: &self.counts,
                sums: &|child| self.sums.get(child as usize).copied(),
                file_systems: &self.file_systems,
                keeps_access_times: self.options.access_times,
            };
            writer.group(folder, order.len(), |column, cells| {
                group.fill(column, cells)
            })?;
        }
        writer.finish(folder)
    }

    fn write_dirs(
        &self,
        folder: &Folder,
        machine: &mut dyn Machine,
    ) -> Result<Vec<FileRecord>, Error> {
        let (tree, numbering) = (&self.tree, &self.tree.numbering);
        let mut entries = vec![0_u64; numbering.len()];
        for (place, &row) in numbering.order.iter().enumerate() {
            if let Some(entry) = entries.get_mut(self.children[row as usize] as usize) {
                *entry = place as u64;
            }
        }
        let mut writer = TableWriter::new(TableName::Dirs)?;
        let all: Vec<u32> = (0..numbering.len() as u32).collect();
        for group in all.chunks(TableName::Dirs.group_rows()) {
            let mut dirs = Vec::with_capacity(group.len());
            for &number in group {
                let at = number as usize;
                dirs.push(DirFacts {
                    number,
                    last: numbering.lasts[at],
                    parent: numbering.parents[at],
                    root: tree.roots[at],
                    entry: entries[at],
                    path: tree.path(number, PATH_BYTES_MAX),
                    first_entry: numbering.first_entries[at],
                    entry_count: numbering.entries(at).len() as u64,
                    state: tree.state(at),
                    is_incomplete: tree.is_incomplete(number),
                    is_finished: tree.is_finished(number),
                    cachedir_tag: tree.cachedir_tag(number, self.has_tag(at), machine),
                    sums: self.sums[at],
                    missing: tree.missing(number),
                    listing: self.listing(at),
                });
            }
            write_dirs(&mut writer, folder, &dirs)?;
        }
        writer.finish(folder)
    }

    /// Whether a directory has a regular file with the name of a tag.
    fn has_tag(&self, number: usize) -> bool {
        let numbering = &self.tree.numbering;
        let order = &numbering.order[numbering.entries(number)];
        let name = |row: &u32| self.rows.name(*row as usize);
        let found = order.binary_search_by(|row| name(row).cmp(TAG_NAME));
        found.is_ok_and(|at| self.rows.kind(order[at] as usize) == FileType::File)
    }

    /// The hash of a directory's rows.
    fn listing(&self, number: usize) -> i64 {
        let numbering = &self.tree.numbering;
        let mut hash = ListingHash::new();
        for &row in &numbering.order[numbering.entries(number)] {
            let row = row as usize;
            hash_row(
                (self.rows, row),
                self.counts[row],
                &self.file_systems,
                &mut hash,
            );
        }
        hash.finish()
    }

    fn write_owners(
        &self,
        folder: &Folder,
        machine: &mut dyn Machine,
    ) -> Result<Vec<FileRecord>, Error> {
        let known = |column: &[u32]| -> BTreeSet<u32> {
            let rows = (0..column.len()).filter(|&row| self.rows.has(row, mark::KNOWN));
            rows.map(|row| column[row]).collect()
        };
        let owners = (&known(&self.rows.uids), &known(&self.rows.gids));
        write_owners(owners, folder, machine)
    }
}

/// The file systems by first appearance: in the order of directories, then in that of rows.
fn file_systems(rows: &Rows, numbering: &Numbering, machine: &mut dyn Machine) -> FileSystems {
    let mut found = FileSystems::default();
    let mut last = None;
    for &row in numbering.rows.iter().chain(&numbering.order) {
        let dev = rows.of(&rows.devs, row as usize);
        if dev != last {
            last = dev;
            if let Some(dev) = dev {
                found.add(dev, machine);
            }
        }
    }
    found
}
