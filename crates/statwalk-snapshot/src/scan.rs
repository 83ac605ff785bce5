// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows of the engine in.

use statwalk_core::{
    Cause, Columns, DirState as State, Directories, EntryError, Fields, Rows as ScanRows, Time,
};

use crate::error::Error;
use crate::part::{Class, DirState, Part, PartDir, PartError, Rows, TIMES, mark};
use crate::scan_rows::NOT_REGULAR;
use crate::spool::Spool;

/// The order of times in a part is that of the engine.
const _: () = assert!(Time::ALL.len() == TIMES);

impl Part {
    /// Adds rows of a scan.
    ///
    /// # Errors
    ///
    /// Returns an error if they have no names, or other fields than those before.
    pub fn add_rows(&mut self, rows: &ScanRows) -> Result<(), Error> {
        self.add_columns(rows.entries(), rows.directories())
    }

    /// Adds rows in columns of any origin. Each column has one value for each row, or none.
    ///
    /// # Errors
    ///
    /// Returns an error if they have no names, or other fields than those before.
    pub fn add_columns(
        &mut self,
        entries: &Columns,
        directories: &Directories,
    ) -> Result<(), Error> {
        let columns = &directories.columns;
        let first = self.rows.len();
        self.rows.extend(columns)?;
        for row in 0..directories.ids.len() {
            let state = State::from_number(directories.states[row]);
            self.dirs.push(PartDir {
                id: directories.ids[row],
                row: (first + row) as u32,
                root: directories.roots[row],
                state: state.map_or(DirState::Listed, DirState::from),
            });
        }
        // That of a root is its index among the roots of the scan.
        for row in (0..columns.len()).filter(|&row| !columns.has_dir.get(row)) {
            self.rows.dirs[first + row] = directories.roots[row];
        }
        self.rows.extend(entries)?;
        self.finished.extend_from_slice(&directories.finished);
        self.incomplete.extend_from_slice(&directories.incomplete);
        Ok(())
    }

    /// Adds an entry that could not be read, or a directory that did not hold still.
    pub fn add_error(&mut self, error: &EntryError) {
        let class = match error.cause {
            Cause::Changed => Class::Changed,
            _ => Class::Unreadable,
        };
        self.errors.push(PartError {
            path: error.path.clone(),
            // The paths of 2^32 roots would not fit into memory.
            root: error.root as u32,
            op: error.op.name(),
            errno: error.cause.errno().map(|errno| errno.0),
            class,
            reason: matches!(error.cause, Cause::NotRegular(_)).then_some(NOT_REGULAR),
        });
    }
}

impl Spool<'_> {
    /// Adds rows of a scan.
    ///
    /// # Errors
    ///
    /// As for [`Part::add_rows`], and if the disk does not take them.
    pub fn add_rows(&mut self, rows: &ScanRows) -> Result<(), Error> {
        self.add_columns(rows.entries(), rows.directories())
    }

    /// Adds rows in columns of any origin.
    ///
    /// # Errors
    ///
    /// As for [`add_rows`](Self::add_rows).
    pub fn add_columns(
        &mut self,
        entries: &Columns,
        directories: &Directories,
    ) -> Result<(), Error> {
        self.part().add_columns(entries, directories)?;
        self.settle()
    }

    /// Adds an entry that could not be read, or a directory that did not hold still.
    pub fn add_error(&mut self, error: &EntryError) {
        self.part().add_error(error);
    }
}

impl From<State> for DirState {
    fn from(state: State) -> DirState {
        match state {
            State::Unreadable => DirState::Unreadable,
            State::Crossing => DirState::Mount,
            State::Excluded => DirState::Excluded,
            State::AtDepthLimit => DirState::AtLimit,
            _ => DirState::Listed,
        }
    }
}

impl From<DirState> for State {
    fn from(state: DirState) -> State {
        match state {
            DirState::Listed => State::Listed,
            DirState::Unreadable => State::Unreadable,
            DirState::Mount => State::Crossing,
            DirState::Excluded => State::Excluded,
            DirState::AtLimit => State::AtDepthLimit,
        }
    }
}

impl Rows {
    /// Adds rows of the engine.
    fn extend(&mut self, columns: &Columns) -> Result<(), Error> {
        let (first, count) = (self.len(), columns.len());
        if count == 0 {
            return Ok(());
        }
        if columns.name_offsets.len() != count + 1 {
            return Err(Error::unfit("the rows have no names"));
        }
        self.dirs.extend_from_slice(&columns.dirs);
        self.kinds.extend_from_slice(&columns.kinds);
        let base = self.names.len();
        self.names.extend_from_slice(&columns.names);
        let ends = columns.name_offsets[1..].iter();
        self.ends.extend(ends.map(|&end| base + end as usize));
        let of = &columns.attributes;
        macro_rules! extend {
            ($($own:ident $theirs:ident)+) => {
                $(extend(&mut self.$own, &of.$theirs, first, count)?;)+
            };
        }
        extend!(
            modes modes uids uids gids gids links links flags flags flags_masks flags_masks
            rdevs rdevs sizes size_bytes allocated allocated_bytes inos inos devs devs
        );
        for (own, theirs) in self.times.iter_mut().zip(&of.times_ns) {
            extend(own, theirs, first, count)?;
        }
        for row in 0..count {
            let mut marks = 0;
            let mut add = |mark, holds: bool| marks |= if holds { mark } else { 0 };
            add(mark::FOLLOWED, !columns.is_direct.get(row));
            add(mark::KNOWN, columns.is_known.get(row));
            add(mark::ROOT, !columns.has_dir.get(row));
            for (time, known) in columns.times_are_known.iter().enumerate() {
                add(mark::TIME << time, !known.is_empty() && known.get(row));
            }
            self.marks.push(marks);
        }
        let row = |row: u32| first as u32 + row;
        let odd = of.odd_times.iter();
        self.odd_times
            .extend(odd.map(|odd| (row(odd.row), odd.time.index() as u8, odd.seconds)));
        let refusals = of.refusals.iter();
        self.refusals
            .extend(refusals.map(|refusal| (row(refusal.row), refusal.errno.0)));
        Ok(())
    }
}

/// Adds a column, which each row has or none.
fn extend<T: Copy>(
    own: &mut Vec<T>,
    theirs: &[T],
    first: usize,
    count: usize,
) -> Result<(), Error> {
    let fits = match theirs.is_empty() {
        true => own.is_empty(),
        false => own.len() == first && theirs.len() == count,
    };
    match fits {
        true => own.extend_from_slice(theirs),
        false => return Err(Error::unfit("rows have other fields than those before")),
    }
    Ok(())
}

/// The names of fields, as the manifest has them.
#[must_use]
pub fn field_names(fields: Fields) -> Vec<String> {
    fields.names().map(str::to_owned).collect()
}
