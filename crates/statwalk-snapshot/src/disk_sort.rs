// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sorts more records than fit into memory, by the bytes of their keys.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::error::Error;
use crate::row_code::{HEAD_BYTES, lengths};
use crate::scratch_file::scratch_file;

/// How many bytes of each run are read at once.
const BLOCK_BYTES: usize = 64 << 10;

/// How many runs are merged at once: more are merged in several passes.
const RUNS_MAX: usize = 256;

/// Records that are being gathered, and runs of them on the disk.
pub(crate) struct DiskSort<'f> {
    folder: &'f Path,
    bytes_max: usize,
    records: Vec<u8>,
    begins: Vec<usize>,
    runs: Vec<Run>,
}

/// Sorted records in a file that has no name.
struct Run {
    file: File,
    bytes: u64,
}

/// All records in their order. It can be asked for them again.
pub(crate) struct Sorted {
    runs: Vec<Run>,
}

/// A way through all records.
pub(crate) struct Records<'s> {
    heap: BinaryHeap<Cursor<'s>>,
}

/// The place in a run, and the record there.
struct Cursor<'s> {
    run: &'s Run,
    number: usize,
    at: u64,
    block: Vec<u8>,
    begin: usize,
    key_bytes: usize,
    bytes: usize,
}

impl<'f> DiskSort<'f> {
    /// A sort with so much memory for records, and files in a folder.
    pub(crate) fn new(folder: &'f Path, bytes_max: usize) -> DiskSort<'f> {
        DiskSort {
            folder,
            bytes_max,
            records: Vec::new(),
            begins: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Adds a record, which the caller writes.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        if self.records.len() + self.begins.len() * size_of::<usize>() >= self.bytes_max {
            self.write_run()?;
        }
        self.begins.push(self.records.len());
        write(&mut self.records);
        Ok(())
    }

    fn write_run(&mut self) -> Result<(), Error> {
        let records = &self.records;
        let record = |begin: usize| {
            let (key_bytes, bytes) = lengths(&records[begin..]);
            let body = &records[begin + HEAD_BYTES..begin + HEAD_BYTES + bytes];
            (&body[..key_bytes], body)
        };
        // Those of one key by the rest, so that the order never depends on the runs.
        self.begins
            .sort_unstable_by(|&a, &b| record(a).cmp(&record(b)));
        let mut run = Writer::new(self.folder)?;
        for &begin in &self.begins {
            let (_, bytes) = lengths(&records[begin..]);
            run.write(&records[begin..begin + HEAD_BYTES + bytes])?;
        }
        self.runs.push(run.end()?);
        self.begins.clear();
        self.records.clear();
        Ok(())
    }

    /// Ends the sort.
    pub(crate) fn finish(mut self) -> Result<Sorted, Error> {
        if !self.begins.is_empty() {
            self.write_run()?;
        }
        drop(std::mem::take(&mut self.records));
        let mut runs = self.runs;
        while runs.len() > RUNS_MAX {
            let rest = runs.split_off(RUNS_MAX);
            let few = Sorted { runs };
            let mut run = Writer::new(self.folder)?;
            let mut records = few.records()?;
            while let Some(()) = records
                .next_record(|record| run.write(record))?
                .transpose()?
            {}
            runs = rest;
            runs.push(run.end()?);
        }
        Ok(Sorted { runs })
    }
}

/// A run that is being written.
struct Writer<'f> {
    folder: &'f Path,
    file: File,
    buffer: Vec<u8>,
    bytes: u64,
}

impl<'f> Writer<'f> {
    fn new(folder: &'f Path) -> Result<Writer<'f>, Error> {
        Ok(Writer {
            folder,
            file: scratch_file(folder)?,
            buffer: Vec::with_capacity(4 * BLOCK_BYTES),
            bytes: 0,
        })
    }

    fn write(&mut self, record: &[u8]) -> Result<(), Error> {
        if self.buffer.len() + record.len() > 4 * BLOCK_BYTES {
            self.flush()?;
        }
        self.buffer.extend_from_slice(record);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let written = self.file.write_all(&self.buffer);
        written.map_err(|error| Error::io("write a file of the merge in", self.folder, error))?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn end(mut self) -> Result<Run, Error> {
        self.flush()?;
        Ok(Run {
            file: self.file,
            bytes: self.bytes,
        })
    }
}

impl Sorted {
    /// Begins a way through all records.
    pub(crate) fn records(&self) -> Result<Records<'_>, Error> {
        let mut heap = BinaryHeap::with_capacity(self.runs.len());
        for (number, run) in self.runs.iter().enumerate() {
            let mut cursor = Cursor {
                run,
                number,
                at: 0,
                block: Vec::new(),
                begin: 0,
                key_bytes: 0,
                bytes: 0,
            };
            if cursor.load()? {
                heap.push(cursor);
            }
        }
        Ok(Records { heap })
    }
}

impl Records<'_> {
    /// Shows the next record, with its head; nothing after the last.
    pub(crate) fn next_record<T>(
        &mut self,
        use_it: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Error> {
        let Some(mut first) = self.heap.peek_mut() else {
            return Ok(None);
        };
        let end = first.begin + HEAD_BYTES + first.bytes;
        let answer = use_it(&first.block[first.begin..end]);
        first.begin = end;
        match first.load() {
            Ok(true) => {}
            Ok(false) => drop(PeekMut::pop(first)),
            Err(error) => {
                // It has no record by which it could be compared.
                PeekMut::pop(first);
                return Err(error);
            }
        }
        Ok(Some(answer))
    }
}

impl Cursor<'_> {
    fn body(&self) -> &[u8] {
        &self.block[self.begin + HEAD_BYTES..self.begin + HEAD_BYTES + self.bytes]
    }

    fn key(&self) -> &[u8] {
        &self.body()[..self.key_bytes]
    }

    /// Makes the whole record at the place be in the block; false at the end.
    fn load(&mut self) -> Result<bool, Error> {
        if !self.has(HEAD_BYTES)? {
            return Ok(false);
        }
        (self.key_bytes, self.bytes) = lengths(&self.block[self.begin..]);
        match self.key_bytes <= self.bytes && self.has(HEAD_BYTES + self.bytes)? {
            true => Ok(true),
            false => Err(Error::damaged("a file of the merge has changed")),
        }
    }

    /// Reads on until so many bytes are there; false where the run ends before.
    fn has(&mut self, count: usize) -> Result<bool, Error> {
        if self.block.len() - self.begin >= count {
            return Ok(true);
        }
        self.block.drain(..self.begin);
        self.begin = 0;
        let wanted = count.max(BLOCK_BYTES) - self.block.len();
        let left = self.run.bytes - self.at;
        let wanted = wanted.min(usize::try_from(left).unwrap_or(usize::MAX));
        let old = self.block.len();
        self.block.resize(old + wanted, 0);
        let read = self.run.file.read_exact_at(&mut self.block[old..], self.at);
        read.map_err(|error| Error::io("read a file of the merge", Path::new(""), error))?;
        self.at += wanted as u64;
        Ok(self.block.len() >= count)
    }
}

/// The smallest record is the greatest cursor, as the heap wants it.
impl Ord for Cursor<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = other.key().cmp(self.key());
        let by_rest = || other.body().cmp(self.body());
        by_key
            .then_with(by_rest)
            .then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Cursor<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cursor<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Cursor<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_code::push_record;

    #[test]
    fn many_runs_give_one_order_twice() {
        let scratch = statwalk_testkit::Scratch::new().unwrap();
        let mut sort = DiskSort::new(scratch.path(), 300);
        let mut expected = Vec::new();
        let mut seed = 1_u32;
        for _ in 0..5000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = seed.to_be_bytes()[..1 + seed as usize % 3].to_vec();
            let value = vec![seed as u8; seed as usize % 40];
            sort.push(|to| push_record(to, &[&key], |to| to.extend_from_slice(&value)))
                .unwrap();
            expected.push((key, value));
        }
        expected.sort();
        let sorted = sort.finish().unwrap();
        assert!(sorted.runs.len() <= RUNS_MAX);
        for _ in 0..2 {
            let mut records = sorted.records().unwrap();
            for (key, value) in &expected {
                let found = records.next_record(|record| {
                    let (key_bytes, _) = lengths(record);
                    let (key, value) = record[HEAD_BYTES..].split_at(key_bytes);
                    (key.to_vec(), value.to_vec())
                });
                assert_eq!(found.unwrap(), Some((key.clone(), value.clone())));
            }
            assert_eq!(records.next_record(|_| ()).unwrap(), None);
        }
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    }
}
