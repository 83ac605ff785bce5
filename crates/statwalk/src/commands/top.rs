// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk top`: the largest files, or the largest directories.

use statwalk_core::{Largest, Node, Report, RootTotals, Top, TopOf, Totals, Tree, TreeSink};
use statwalk_view::{Align, Cell, Column, SizeColumn, age, list_table};

use crate::clock;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::TopFlags;
use crate::output::Output;
use crate::output::ending::{self, Errors};
use crate::output::json::{self, Counted, TopAnswer, TopJson, directory_json};
use crate::output::plain::Rows;
use crate::output::rows::{bytes, largest_directories};
use crate::output::screen::Screen;
use crate::request::filters::Filters;
use crate::request::{Form, Request, Sizes};
use crate::watch::watch;

/// A large file or directory, as it is shown.
struct Large {
    path: Vec<u8>,
    bytes: u128,
    mtime_ns: Option<i64>,
    json: TopJson,
}

struct Shown {
    request: Request,
    sizes: Sizes,
    /// What the files or directories are called.
    title: &'static str,
}

pub(super) fn run(flags: TopFlags) -> Result<ExitStatus, Failure> {
    let sizes = Sizes::new(&flags.sizes)?;
    let filters = Filters::new(&flags.filters)?;
    if filters.only_directories() {
        let message = "top lists no directories: try --dirs";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut request = Request::new(&flags.scan, flags.paths)?;
    request.limit_depth(flags.max_depth);
    let shown = Shown {
        request,
        sizes,
        title: match flags.dirs {
            true => "DIRECTORY",
            false => "FILE",
        },
    };
    match flags.dirs {
        true => shown.directories(&filters, flags.lines, flags.reverse),
        false => shown.files(filters, flags.lines, flags.reverse),
    }
}

impl Shown {
    fn files(&self, filters: Filters, count: usize, reverse: bool) -> Result<ExitStatus, Failure> {
        let by = match self.sizes.column {
            SizeColumn::Disk => Largest::Allocated,
            SizeColumn::Apparent => Largest::Apparent,
        };
        let mut top = Top::new(count, by);
        if !filters.is_empty() {
            let fields = filters.fields();
            top = top.filter(fields, move |_, entry| {
                filters.pass(entry.name, &entry.attributes)
            });
        }
        let progress = self.request.progress(Some(self.sizes.format));
        let sink = (Totals::with_sizes(), top);
        let outcome = watch(&self.request.scan, &sink, progress, &mut ())?;
        let (totals, top) = outcome.output;
        let large = top.iter().map(|file| self.file(file)).collect();
        self.print(large, reverse, &outcome.report, &totals)
    }

    fn directories(
        &self,
        filters: &Filters,
        count: usize,
        reverse: bool,
    ) -> Result<ExitStatus, Failure> {
        let progress = self.request.progress(Some(self.sizes.format));
        let sink = (Totals::with_sizes(), TreeSink::of_directories());
        let outcome = watch(&self.request.scan, &sink, progress, &mut ())?;
        let (totals, tree) = outcome.output;
        let large = self.largest_of(&tree, filters, count);
        let status = self.print(large, reverse, &outcome.report, &totals);
        // The program ends; see `summary`.
        std::mem::forget(tree);
        status
    }

    fn largest_of(&self, tree: &Tree, filters: &Filters, count: usize) -> Vec<Large> {
        let wanted = |node: &Node<'_>| {
            filters.pass_name(node.name()) && filters.pass_size(node.apparent_bytes())
        };
        let nodes = largest_directories(tree, self.sizes.column, wanted, count);
        nodes.iter().map(|node| self.directory(node)).collect()
    }

    fn file(&self, file: &TopOf) -> Large {
        let allocated_bytes = file.attributes.allocated_bytes().unwrap_or(0);
        let apparent_bytes = file.attributes.size_bytes().unwrap_or(0);
        Large {
            path: file.path.clone(),
            bytes: self.sizes.of(allocated_bytes, apparent_bytes).into(),
            mtime_ns: file.attributes.mtime_ns(),
            json: TopJson::from(file),
        }
    }

    fn directory(&self, node: &Node<'_>) -> Large {
        Large {
            path: node.path(),
            bytes: bytes(node, self.sizes.column),
            mtime_ns: node.newest_mtime_ns(),
            json: TopJson::Directory(directory_json(node)),
        }
    }

    fn print(
        &self,
        mut large: Vec<Large>,
        reverse: bool,
        report: &Report,
        totals: &[RootTotals],
    ) -> Result<ExitStatus, Failure> {
        if reverse {
            large.reverse();
        }
        match self.request.form {
            Form::Screen(screen) => self.print_table(&large, report, totals, screen)?,
            Form::Rows(end) => {
                let mut rows = Rows::new(end);
                for one in &large {
                    rows.row(&[&self.sizes.format_in_rows.text(one.bytes)], &one.path)?;
                }
                rows.finish()?;
            }
            Form::Json(screen) => {
                let top = large.into_iter().map(|one| one.json).collect();
                let answer = TopAnswer { top };
                let counted = Counted::Sizes;
                json::write(&self.request, screen, report, totals, counted, answer)?;
            }
        }
        Ok(ending::conclude(&self.request, report, Errors::Untold))
    }

    fn print_table(
        &self,
        large: &[Large],
        report: &Report,
        totals: &[RootTotals],
        screen: Screen,
    ) -> Result<(), Failure> {
        let now_ns = clock::now_ns();
        let summary = ending::summary(report, totals);
        let whole = self
            .sizes
            .of(summary.allocated_bytes, summary.apparent_bytes);
        let largest = large.iter().map(|one| one.bytes).max().unwrap_or(0);
        let column = |title, align| Column { title, align };
        let columns = [
            column(self.sizes.title(), Align::Right),
            column("SHARE", Align::Left),
            column("NEWEST", Align::Right),
            column(self.title, Align::Left),
        ];
        let rows = large.iter().map(|one| {
            let absent = || screen.terminal.charset.absent().to_owned();
            let newest = one.mtime_ns.map_or_else(absent, |ns| age(ns, now_ns));
            vec![
                Cell::Text(self.sizes.format.text(one.bytes).into()),
                Cell::Share {
                    part: one.bytes,
                    whole,
                    largest,
                },
                Cell::Text(newest.into()),
                Cell::Name((&one.path).into()),
            ]
        });
        let rows: Vec<_> = rows.collect();
        let mut out = Output::new();
        out.lines(list_table(&columns, &rows, screen.terminal))?;
        out.lines([""])?;
        out.lines(summary.lines(self.sizes.format, screen.terminal))?;
        out.lines(ending::left_out_line(report, screen.terminal))?;
        out.finish()
    }
}
