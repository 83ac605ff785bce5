// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories that are read before a walk enters them.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;
use std::time::Duration;

use statwalk_core::{Cause, DirState, EntryError};

use crate::failure::Failure;
use crate::feed::Step;
use crate::request::Request;
use crate::tables::{Table, Tables};

/// How many entries one scan should give at least: enough that the start of its threads is
/// nothing. It should also give half of what all scans have given, so that a walk through a
/// large tree waits for few of them.
const ENOUGH: usize = 20_000;
const DOUBLED_MAX: u32 = 20;
const OTHERS_MAX: usize = 1024;

/// Directories with their entries, and others that a walk will probably enter, by path. A slash
/// at the end of a path says nothing here.
///
/// Each scan goes deeper and takes more directories than the one before it, until it gives
/// enough. They are those that lay as deep as a scan before it went: with siblings alone, each
/// of many directories that have one directory would need a scan.
#[derive(Debug, Default)]
pub struct ReadAhead {
    /// Directories that the walk has not taken, by path without a slash at the end.
    known: HashMap<Vec<u8>, Known>,
    /// Directories that lie as deep as their scan went, by the scan that they began with: that
    /// of the top, or of a name that the caller has added. So no scan meets a directory by two
    /// paths. The walk may have taken some since: only those known as waiting still wait.
    waiting: HashMap<usize, VecDeque<Vec<u8>>>,
    /// The number for the directories that the current scan finds.
    beginning: usize,
    /// How often the depth was doubled.
    depth: u32,
    /// How many of them the next scan takes beside the wanted one.
    others: usize,
    scans: usize,
    /// Entries of all scans.
    given: usize,
    /// The current scan, and the number of its entries.
    scan: Option<(Tables, usize)>,
}

/// A directory, by the last scan that met it.
#[derive(Debug, Default)]
struct Known {
    /// The number of that scan. A later one begins anew: the caller can have had a directory
    /// read twice, and the names of both scans would be there twice.
    scan: usize,
    is_listed: bool,
    /// For one that lies as deep as the scan went, the scan that it began with.
    waits_since: Option<usize>,
    parts: Vec<Part>,
    error: Option<EntryError>,
}

/// Some rows of a table of directories or of others, which stays for them.
pub type Part = (Arc<Table>, Range<usize>);

impl ReadAhead {
    /// Begins to read the directory of a request, perhaps others, and some of what is below.
    /// A link has a slash at its end. Names and types must be among the columns.
    ///
    /// # Errors
    ///
    /// Returns an error if the path holds a NUL.
    pub fn begin(&mut self, mut request: Request) -> Result<(), Failure> {
        if self.scan.take().is_some() {
            // The caller has left that scan, so no directory of it is whole.
            self.known.retain(|_, known| known.scan != self.scans);
        }
        self.scans += 1;
        request.max_depth = Some(1 << self.depth);
        let own = self
            .known
            .remove(without_slash(request.roots[0].as_os_str().as_bytes()));
        let since = own.and_then(|own| own.waits_since);
        self.beginning = since.unwrap_or(self.scans);
        let waiting = self.waiting.entry(self.beginning).or_default();
        let mut others = 0;
        while others < self.others
            && let Some(next) = waiting.pop_front()
        {
            let since = self.known.get(&next).and_then(|known| known.waits_since);
            if since == Some(self.beginning) {
                self.known.remove(&next);
                request.add_root(OsString::from_vec(next));
                others += 1;
            }
        }
        self.scan = Some((Tables::new(&request)?, 0));
        Ok(())
    }

    /// Reads on, and waits up to a time. Answers whether all is read that was begun.
    ///
    /// # Errors
    ///
    /// Returns an error if a worker has failed, and in the child of a fork.
    pub fn is_read_within(&mut self, timeout: Duration) -> Result<bool, Failure> {
        let Some((tables, count)) = &mut self.scan else {
            return Ok(true);
        };
        match tables.next_within(timeout)? {
            Step::Value(table) => {
                *count += table.columns().len();
                self.add(table);
            }
            // A directory that others have changed each time is whole but for that.
            Step::Error(error) if error.cause == Cause::Changed => {}
            Step::Error(error) => {
                let known = self.of_this_scan(&error.path);
                known.error = Some(error);
            }
            Step::Waiting => {}
            Step::End => {
                self.given += *count;
                let enough = ENOUGH.max(self.given / 2);
                if *count < enough / 2 {
                    self.depth = (self.depth + 1).min(DOUBLED_MAX);
                    self.others = (self.others * 2 + 1).min(OTHERS_MAX);
                } else if *count > enough * 2 {
                    self.read_less();
                }
                self.scan = None;
            }
        }
        Ok(self.scan.is_none())
    }

    /// How often directories were read.
    #[must_use]
    pub fn scans(&self) -> usize {
        self.scans
    }

    /// Takes the entries of a directory away, or the error with which it could not be opened or
    /// has ended too early. Absent where they are not at hand, and until all is read that was
    /// begun.
    pub fn take(&mut self, path: &[u8]) -> Option<Result<Vec<Part>, EntryError>> {
        let own = without_slash(path);
        if self.scan.is_some() || self.known.get(own)?.waits_since.is_some() {
            return None;
        }
        let known = self.known.remove(own)?;
        let listed = known.is_listed.then_some(Ok(known.parts));
        known.error.map(Err).or(listed)
    }

    /// Forgets directories that the walk leaves out, and all that was read below them.
    pub fn forget(&mut self, mut paths: Vec<Vec<u8>>) {
        let mut were_read = false;
        while let Some(path) = paths.pop() {
            let path = without_slash(&path);
            let Some(known) = self.known.remove(path) else {
                continue;
            };
            were_read |= known.is_listed;
            for (table, rows) in &known.parts {
                let rows = rows.clone().take_while(|_| !table.directories().is_empty());
                let names = rows.map(|row| table.columns().name(row));
                paths.extend(names.map(|name| [path, b"/", name].concat()));
            }
        }
        if were_read {
            self.read_less();
        }
    }

    fn read_less(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.others /= 2;
    }

    fn add(&mut self, table: Table) {
        let table = Arc::new(table);
        let (directories, columns) = (table.directories(), table.columns());
        let prefixes = table.prefixes();
        let mut end = 0;
        for run in prefixes.of_rows.chunk_by(|a, b| a == b) {
            let rows = end..end + run.len();
            end = rows.end;
            let bounds = [run[0], run[0] + 1].map(|at| prefixes.offsets[at as usize] as usize);
            let prefix = &prefixes.bytes[bounds[0]..bounds[1]];
            for row in rows.clone().take_while(|_| !directories.is_empty()) {
                let path = [prefix, columns.name(row)].concat();
                self.note(path, directories.row(row).state);
            }
            // Roots are in no directory.
            if !prefix.is_empty() {
                let above = self.of_this_scan(prefix);
                above.parts.push((Arc::clone(&table), rows));
            }
        }
    }

    /// Notes how far a directory was read. The scan can meet it below one root and as another:
    /// then it does not wait.
    fn note(&mut self, path: Vec<u8>, found: DirState) {
        let beginning = self.beginning;
        let known = self.of_this_scan(&path);
        if found == DirState::Listed {
            (known.is_listed, known.waits_since) = (true, None);
        } else if found == DirState::AtDepthLimit && !known.is_listed {
            known.waits_since = Some(beginning);
            self.waiting.entry(beginning).or_default().push_back(path);
        }
    }

    /// The facts of the current scan about a directory.
    fn of_this_scan(&mut self, path: &[u8]) -> &mut Known {
        let known = self.known.entry(without_slash(path).to_vec()).or_default();
        if known.scan != self.scans {
            *known = Known {
                scan: self.scans,
                ..Known::default()
            };
        }
        known
    }
}

/// The root alone is a slash and nothing else.
fn without_slash(path: &[u8]) -> &[u8] {
    match path {
        [b'/'] => path,
        [above @ .., b'/'] => without_slash(above),
        _ => path,
    }
}
