// SPDX-License-Identifier: MIT OR Apache-2.0

//! Gathers the rows of a scan: in memory as long as they are few, then on the disk.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};

use crate::error::Error;
use crate::folder::Folder;
use crate::machine::Machine;
use crate::manifest::{Facts, Manifest};
use crate::merge::{MergeOptions, may_store, merge};
use crate::numbering::NONE;
use crate::part::{Part, PartDir, mark};
use crate::row_code::{HEAD_BYTES, Layout, lengths, push_record, push_row};
use crate::scratch_file::scratch_file;
use crate::spilled::Spilled;

/// From so many rows on, they go to the disk.
const ROWS_MAX: usize = 500_000;

/// How many bytes go to the disk at once.
const BUFFER_BYTES: usize = 1 << 18;

/// The rows of a scan of any size. [`merge`](Self::merge) makes a snapshot of them.
///
/// Up to 500,000 rows lie in memory. More go to files without a name in the folder of the
/// snapshot, and memory then keeps at most 128 MiB, and 100 bytes and the name of each directory.
#[derive(Debug)]
pub struct Spool<'f> {
    folder: &'f Folder,
    rows_max: usize,
    part: Part,
    spill: Option<Spill>,
}

/// Rows on the disk, in the order in which they came.
#[derive(Debug)]
pub(crate) struct Spill {
    file: BufWriter<File>,
    buffer: Vec<u8>,
    pub(crate) layout: Layout,
    pub(crate) rows: u64,
    /// The directories, without attributes, and all ends and errors.
    pub(crate) dirs: Part,
    /// The device of each of them: a place among all devices, or [`NONE`].
    pub(crate) devs: Vec<u32>,
    pub(crate) all_devs: Vec<u64>,
    pub(crate) uids: BTreeSet<u32>,
    pub(crate) gids: BTreeSet<u32>,
}

impl<'f> Spool<'f> {
    /// A spool without a row, whose files lie in the folder of a snapshot.
    #[must_use]
    pub fn new(folder: &'f Folder) -> Spool<'f> {
        Spool {
            folder,
            rows_max: ROWS_MAX,
            part: Part::new(),
            spill: None,
        }
    }

    /// Keeps fewer or more rows in memory, 104 bytes and the name each.
    #[must_use]
    pub fn with_rows_max(mut self, rows: usize) -> Spool<'f> {
        self.rows_max = rows;
        self
    }

    /// Adds the rows of a part. Its directories have other numbers than those before.
    ///
    /// # Errors
    ///
    /// Returns an error if the rows have other fields than those before, or if the disk does
    /// not take them.
    pub fn add_part(&mut self, part: Part) -> Result<(), Error> {
        if !self.part.is_empty() {
            self.spill()?;
        }
        let mut before = std::mem::replace(&mut self.part, part);
        self.part.finished.append(&mut before.finished);
        self.part.incomplete.append(&mut before.incomplete);
        self.part.errors.append(&mut before.errors);
        self.settle()
    }

    /// The rows in memory, to which the caller adds.
    #[cfg(feature = "scan")]
    pub(crate) fn part(&mut self) -> &mut Part {
        &mut self.part
    }

    /// Brings the rows to the disk if they are many.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        match self.part.len() >= self.rows_max {
            true => self.spill(),
            false => Ok(()),
        }
    }

    /// Writes the tables of a snapshot. The result does not depend on the number of rows that
    /// lay in memory.
    ///
    /// # Errors
    ///
    /// As for [`merge`].
    pub fn merge(
        mut self,
        facts: Facts,
        machine: &mut dyn Machine,
        options: &MergeOptions,
    ) -> Result<Manifest, Error> {
        if self.spill.is_none() {
            return merge(&self.part, facts, machine, self.folder, options);
        }
        may_store(&facts, options)?;
        self.spill()?;
        let Some(spill) = self.spill.take() else {
            return Err(Error::unfit("there are no rows"));
        };
        drop(self.part);
        Spilled::merge(spill, facts, machine, self.folder, options)
    }

    fn spill(&mut self) -> Result<(), Error> {
        let part = &mut self.part;
        if self.spill.is_none() {
            self.spill = Some(Spill {
                file: BufWriter::with_capacity(BUFFER_BYTES, scratch_file(self.folder.path())?),
                buffer: Vec::new(),
                layout: Layout::of(&part.rows),
                rows: 0,
                dirs: Part::new(),
                devs: Vec::new(),
                all_devs: Vec::new(),
                uids: BTreeSet::new(),
                gids: BTreeSet::new(),
            });
        }
        let spill = self.spill.as_mut().expect("it is there now");
        if !part.is_empty() && Layout::of(&part.rows) != spill.layout {
            return Err(Error::unfit("rows have other fields than those before"));
        }
        spill.take(part)?;
        part.rows.clear();
        part.dirs.clear();
        Ok(())
    }
}

/// The place of a device among all of them. There are few.
fn place_in(all: &mut Vec<u64>, dev: u64) -> u32 {
    let found = all.iter().rposition(|&other| other == dev);
    found.unwrap_or_else(|| {
        all.push(dev);
        all.len() - 1
    }) as u32
}

impl Spill {
    /// Takes the rows of a part over.
    fn take(&mut self, part: &mut Part) -> Result<(), Error> {
        let rows = &part.rows;
        let mut children = vec![NONE; rows.len()];
        for dir in &part.dirs {
            let row = dir.row as usize;
            children[row] = dir.id;
            let of = &mut self.dirs.rows;
            self.dirs.dirs.push(PartDir {
                row: of.len() as u32,
                ..*dir
            });
            of.dirs.push(rows.dirs[row]);
            of.marks.push(rows.marks[row]);
            of.kinds.push(rows.kinds[row]);
            of.names.extend_from_slice(rows.name(row));
            of.ends.push(of.names.len());
            let dev = rows.of(&rows.devs, row);
            self.devs
                .push(dev.map_or(NONE, |dev| place_in(&mut self.all_devs, dev)));
        }
        let mut last = (None, None);
        for (row, &child) in children.iter().enumerate() {
            let owner = (rows.of(&rows.uids, row), rows.of(&rows.gids, row));
            if owner != last {
                last = owner;
                self.uids.extend(owner.0);
                self.gids.extend(owner.1);
            }
            self.buffer.clear();
            let key = [&rows.dirs[row].to_be_bytes()[..], rows.name(row)];
            push_record(&mut self.buffer, &key, |to| push_row(rows, row, child, to));
            let written = self.file.write_all(&self.buffer);
            written.map_err(|error| Error::io("write rows of the scan", "".as_ref(), error))?;
        }
        self.rows += rows.len() as u64;
        self.dirs.finished.append(&mut part.finished);
        self.dirs.incomplete.append(&mut part.incomplete);
        self.dirs.errors.append(&mut part.errors);
        Ok(())
    }

    /// Shows each row: whether it is a root, the number of its directory in the part or the
    /// index of the root, its name, and its value.
    pub(crate) fn for_each(
        &mut self,
        mut each: impl FnMut(bool, u32, &[u8], &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let failed = |error| Error::io("read rows of the scan", "".as_ref(), error);
        self.file.flush().map_err(failed)?;
        let file = self.file.get_mut();
        file.rewind().map_err(failed)?;
        let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut head = [0; HEAD_BYTES];
        for _ in 0..self.rows {
            file.read_exact(&mut head).map_err(failed)?;
            let (key_bytes, bytes) = lengths(&head);
            self.buffer.resize(bytes, 0);
            file.read_exact(&mut self.buffer).map_err(failed)?;
            let (key, value) = self.buffer.split_at(key_bytes);
            let (dir, name) = key.split_at(4);
            let dir = u32::from_be_bytes([dir[0], dir[1], dir[2], dir[3]]);
            let is_root = value.get(4).is_some_and(|marks| marks & mark::ROOT != 0);
            each(is_root, dir, name, value)?;
        }
        Ok(())
    }
}
