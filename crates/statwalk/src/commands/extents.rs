// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk extents PATH…`: the space on the device, and the space that deleting frees.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use serde::Serialize;
use statwalk_core::{DirState, Totals};
use statwalk_space::btrfs::{ExtentDir, ExtentUsage, Inodes, extent_usage};
use statwalk_view::{Align, Cell, Column, grouped, list_table, share};

use crate::answer::about::About;
use crate::commands::delivery::{conclude, form_of, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{ExtentsFlags, ExtentsSortName};
use crate::output::ending::{self, Errors};
use crate::output::json::{ExtentsJson, Field};
use crate::output::plain::Rows;
use crate::output::printer::Answer;
use crate::output::rows::{Selection, Side};
use crate::request::{Form, Request, Sizes};
use crate::system::screen::Screen;
use crate::watch::progress::{ProgressOptions, ShareLine};
use crate::watch::watch;

/// The depth of rows, unless the user sets one.
const DEPTH_DEFAULT: u32 = 1;

/// The space of a tree on its device.
pub(super) struct ExtentsAnswer {
    sizes: Sizes,
    selection: Selection,
    by_name: bool,
    reverse: bool,
    usage: ExtentUsage,
    pub(super) about: About,
}

/// The end of a scan for extents.
pub(super) enum Made {
    Answer(Box<ExtentsAnswer>),
    /// It was ended, or no path is there.
    Nothing(Box<About>),
}

pub(super) fn run(flags: ExtentsFlags) -> Result<ExitStatus, Failure> {
    let (request, made) = answer_of(flags)?;
    match made {
        Made::Nothing(about) => Ok(conclude(&request, &about, Errors::Untold)),
        Made::Answer(answer) => {
            print(&*answer, request.form)?;
            Ok(conclude(&request, &answer.about, Errors::Untold))
        }
    }
}

/// Scans, and makes the answer.
pub(super) fn answer_of(flags: ExtentsFlags) -> Result<(Request, Made), Failure> {
    let sizes = Sizes::on_disk(&flags.units)?;
    let mut request = Request::of_walk(&flags.walk, flags.paths, form_of(&flags.walk.form))?;
    // Their paths mark the rows.
    request.scan = request.scan.errors_kept(usize::MAX);
    let selection = Selection {
        depth_max: match flags.summarize {
            true => 0,
            false => flags.max_depth.unwrap_or(DEPTH_DEFAULT),
        },
        files: false,
        rows_max: flags.lines,
        side: match request.form {
            Form::Rows(_) => Side::Behind,
            Form::Screen(_) | Form::Json(_) => Side::Before,
        },
    };
    let progress = ProgressOptions::new(&request, Some(sizes.format));
    let sink = (Totals::new(), Inodes::new());
    let outcome = watch(&request.scan, &sink, progress)?;
    let (totals, inodes) = outcome.output;
    let about = About::of_scan(&request, outcome.report, &totals);
    if about.gaps.interrupted || !about.has_root() {
        return Ok((request, Made::Nothing(Box::new(about))));
    }
    let line = ShareLine::new(request.progress);
    let usage = extent_usage(inodes, |progress| {
        line.tick("of files and extents", progress.done, progress.of);
        ControlFlow::Continue(())
    });
    line.clear();
    let answer = ExtentsAnswer {
        sizes,
        selection,
        by_name: flags.sort == ExtentsSortName::Name,
        reverse: flags.reverse,
        usage: usage?,
        about,
    };
    Ok((request, Made::Answer(Box::new(answer))))
}

impl ExtentsAnswer {
    /// The directories that have rows.
    fn dirs(&self) -> impl Iterator<Item = ExtentDir<'_>> {
        let roots = self.usage.roots().filter(|dir| !is_unread(dir));
        (self.selection).rows(roots, below, |_| (), |(_, a), (_, b)| self.compare(a, b))
    }

    fn compare(&self, a: &ExtentDir<'_>, b: &ExtentDir<'_>) -> Ordering {
        let by_size = b.sums().disk_bytes.cmp(&a.sums().disk_bytes);
        let by_name = || a.name().cmp(b.name());
        let order = match self.by_name {
            true => by_name(),
            false => by_size.then_with(by_name),
        };
        match self.reverse {
            true => order.reverse(),
            false => order,
        }
    }

    /// The sentences below the table.
    fn sentences(&self) -> Vec<String> {
        let size = |bytes: u64| self.sizes.format.text(bytes.into());
        let total = self.usage.total;
        let mut lines = vec![format!(
            "{} on disk, of which deleting all frees {}.",
            size(total.disk_bytes),
            size(total.exclusive_bytes),
        )];
        lines.extend(self.usage.compression.iter().map(|way| {
            format!(
                "Compression {}: {} for {} ({}) in {} extents.",
                way.compression.name(),
                size(way.disk_bytes),
                size(way.plain_bytes),
                share(way.disk_bytes.into(), way.plain_bytes.into()),
                grouped(way.extents),
            )
        }));
        if total.inline_bytes > 0 {
            lines.push(format!(
                "Besides, {} of small files lie in the trees.",
                size(total.inline_bytes)
            ));
        }
        if self.usage.files_elsewhere > 0 {
            lines.push(format!(
                "Not in these sums: {} files on other file systems.",
                grouped(self.usage.files_elsewhere)
            ));
        }
        lines
    }
}

impl Answer for ExtentsAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        let size = |title| Column::new(title, Align::Right);
        let columns = [
            size("ON DISK"),
            size("EXCLUSIVE"),
            size("SHARED").optional(),
            size("REFERENCED").optional(),
            Column::new("PATH", Align::Left),
        ];
        let cells = |dir: ExtentDir<'_>| {
            let sums = dir.sums();
            let bytes = [
                sums.disk_bytes,
                sums.exclusive_bytes,
                sums.shared_bytes(),
                sums.referenced_bytes,
            ];
            let size = |bytes: u64| self.sizes.format.text(bytes.into());
            let mut cells: Vec<_> = bytes.map(|bytes| Cell::Text(size(bytes).into())).into();
            let path = dir.path();
            cells.push(match self.about.has_errors_at_or_below(&path) {
                true => Cell::Incomplete(path.into()),
                false => Cell::Name(path.into()),
            });
            cells
        };
        let rows: Vec<_> = self.dirs().map(cells).collect();
        let mut lines = list_table(&columns, &rows, screen.terminal);
        lines.push(String::new());
        lines.extend(self.sentences());
        lines.extend(ending::left_out_line(&self.about, screen.terminal));
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        for dir in self.dirs() {
            let sums = dir.sums();
            let bytes = [sums.disk_bytes, sums.exclusive_bytes, sums.referenced_bytes];
            let bytes = bytes.map(|bytes| self.sizes.format_in_rows.text(bytes.into()));
            rows.row(&bytes.each_ref().map(String::as_str), &dir.path())?;
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        let extents = ExtentsJson {
            usage: &self.usage,
            dirs: self.dirs().collect(),
            about: &self.about,
        };
        self.about.document(Field("extents", extents))
    }
}

/// The directories directly below one.
fn below<'a>(dir: &ExtentDir<'a>) -> Vec<ExtentDir<'a>> {
    dir.children().filter(|dir| !is_unread(dir)).collect()
}

/// Whether a directory of the extents is one that the scan did not enter.
fn is_unread(dir: &ExtentDir<'_>) -> bool {
    matches!(dir.state(), Some(DirState::Crossing | DirState::Excluded))
}
