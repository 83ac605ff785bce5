// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk top`: the largest files, the largest directories, or those that a program
//! makes again.

use serde::ser::{Serialize, SerializeMap};
use statwalk_core::{Attributes, Node, NodeId, TopOf, Totals, Tree, TreeSink, path_order};
use statwalk_view::rebuildable::Rule;
use statwalk_view::{Align, Cell, Column, age, counted, list_table, share, wrap};

use crate::answer::about::About;
use crate::answer::filter_texts::FilterTexts;
use crate::answer::largest_files;
use crate::commands::delivery::{conclude, form_of, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::TopFlags;
use crate::output::ending::{self, Errors};
use crate::output::json::{EntryJson, Fields, Json, NodeJson, Object, Rebuildable};
use crate::output::own_names;
use crate::output::plain::Rows;
use crate::output::printer::{Answer, ROWS_FOR_SENTENCES};
use crate::output::rows::{bytes, largest_directories};
use crate::output::scanned_tree::{Part, ScannedTree};
use crate::rebuildable::{self, TraceSink};
use crate::request::filters::{Filters, NameFilters};
use crate::request::{Form, Request, Sizes};
use crate::system::screen::Screen;
use crate::watch::progress::ProgressOptions;
use crate::watch::reading::read;

/// The number of rows on a pipe, unless the user sets one.
const COUNT_DEFAULT: usize = 20;

/// The rows of the highest screen. The height is known at the end alone: the user can
/// resize the terminal meanwhile.
const SCREEN_ROWS_MAX: usize = 1_000;

/// A large file or directory, in every form.
struct Large {
    path: Vec<u8>,
    bytes: u128,
    mtime_ns: Option<i64>,
    /// Whether something below could not be read.
    is_incomplete: bool,
    /// The program that makes it again, where such directories are asked for.
    rebuilt_by: Option<&'static str>,
    found: Found,
}

/// A file with its attributes, or a directory of the tree.
enum Found {
    File(Box<Attributes>),
    Directory(NodeId),
}

/// The largest files or directories, in the order of their rows.
pub(super) struct LargestAnswer {
    sizes: Sizes,
    /// The number of rows; absent where the user set none.
    rows_max: Option<usize>,
    /// Whether the largest comes last.
    is_reversed: bool,
    /// The filters on names, where the list is one of files.
    names: Option<NameFilters>,
    /// The sums of all directories that a program makes again, where those are asked for.
    rebuildable: Option<Rebuildable>,
    large: Vec<Large>,
    /// Absent where the list is one of files.
    tree: Option<Tree>,
    pub(super) about: About,
}

pub(super) fn run(flags: TopFlags) -> Result<ExitStatus, Failure> {
    let (request, answer) = answer_of(flags)?;
    print(&answer, request.form)?;
    let status = conclude(&request, &answer.about, Errors::Untold);
    // The program ends: to free a large tree piece by piece would only take time.
    std::mem::forget(answer);
    Ok(status)
}

/// Scans, and makes the answer.
pub(super) fn answer_of(flags: TopFlags) -> Result<(Request, LargestAnswer), Failure> {
    let sizes = Sizes::new(&flags.sizes)?;
    let mut request = Request::new(&flags.scan, flags.paths, form_of(&flags.scan.walk.form))?;
    let filters = Filters::new(&flags.filters, request.stored())?;
    if filters.only_directories() {
        let message = "top lists no directories: try --dirs";
        return Err(Failure::Usage(message.to_owned()));
    }
    request.filters = FilterTexts::new(&flags.filters);
    request.limit_depth(flags.max_depth);
    let count = flags.lines.unwrap_or(match request.form {
        Form::Screen(_) => SCREEN_ROWS_MAX,
        Form::Rows(_) | Form::Json(_) => COUNT_DEFAULT,
    });
    let is_of_files = !flags.dirs && !flags.rebuildable;
    let mut answer = match (flags.rebuildable, flags.dirs) {
        (true, _) => rebuildable(&request, sizes, &filters, count),
        (false, true) => directories(&request, sizes, &filters, count),
        (false, false) => files(&request, sizes, filters, count),
    }?;
    answer.rows_max = flags.lines;
    answer.is_reversed = flags.reverse;
    answer.names = NameFilters::new(&flags.filters).filter(|_| is_of_files);
    Ok((request, answer))
}

fn files(
    request: &Request,
    sizes: Sizes,
    filters: Filters,
    count: usize,
) -> Result<LargestAnswer, Failure> {
    let (mut top, mut apparent) = largest_files::largest_files(count, sizes.column);
    if let Some((fields, test)) = filters.test() {
        apparent = apparent.map(|top| top.with_filter(fields, test.clone()));
        top = top.with_filter(fields, test);
    }
    let progress = ProgressOptions::new(request, Some(sizes.format));
    let sink = (Totals::new(), (top, apparent));
    let read = read(request, &sink, progress)?;
    let (totals, top) = read.output;
    let about = About::of_scan(request, read.record, &totals);
    let sizes = sizes.of_scan(&about, request.form);
    let top = largest_files::chosen(top, sizes.lacks_blocks);
    let large = top.iter().map(|file| Large::file(file, &sizes)).collect();
    Ok(LargestAnswer::new(sizes, large, about))
}

fn directories(
    request: &Request,
    sizes: Sizes,
    filters: &Filters,
    count: usize,
) -> Result<LargestAnswer, Failure> {
    let progress = ProgressOptions::new(request, Some(sizes.format));
    let sink = (Totals::new(), TreeSink::new());
    let read = read(request, &sink, progress)?;
    let (totals, tree) = read.output;
    let about = About::of_scan(request, read.record, &totals);
    let sizes = sizes.of_scan(&about, request.form);
    let wanted = |node: &Node<'_>| {
        filters.pass_name(node.name()) && filters.pass_size(node.apparent_bytes().unwrap_or(0))
    };
    let nodes = largest_directories(&tree, sizes.order(), wanted, count);
    let directory = |node| Large::directory(node, &sizes);
    let large = nodes.iter().map(directory).collect();
    Ok(LargestAnswer {
        tree: Some(tree),
        ..LargestAnswer::new(sizes, large, about)
    })
}

fn rebuildable(
    request: &Request,
    sizes: Sizes,
    filters: &Filters,
    count: usize,
) -> Result<LargestAnswer, Failure> {
    let progress = ProgressOptions::new(request, Some(sizes.format));
    let sink = (Totals::new(), TreeSink::new(), TraceSink);
    let read = read(request, &sink, progress)?;
    let (totals, tree, traces) = read.output;
    let about = About::of_scan(request, read.record, &totals);
    let sizes = sizes.of_scan(&about, request.form);
    let is_interrupted = about.gaps.interrupted;
    let mut found = rebuildable::all(
        &tree,
        &request.paths,
        &traces,
        is_interrupted,
        request.stored(),
    );
    found.retain(|(node, _)| {
        filters.pass_name(node.name())
            && filters.pass_size(node.apparent_bytes().unwrap_or(0))
            && filters.pass_newest(node.newest_mtime_ns())
    });
    let mut sum = Rebuildable::default();
    for (node, _) in &found {
        sum.dirs += 1;
        sum.apparent_bytes += node.apparent_bytes().unwrap_or(0);
        sum.allocated_bytes += node.allocated_bytes().unwrap_or(0);
    }
    let mut large: Vec<(u128, Large)> = (found.iter())
        .map(|(node, rule)| {
            let rank = bytes(node, sizes.order());
            (rank, Large::rebuildable(node, rule, &sizes))
        })
        .collect();
    large.sort_by(|(a_rank, a), (b_rank, b)| {
        let by_size = b_rank.cmp(a_rank);
        by_size.then_with(|| path_order(&a.path, &b.path))
    });
    large.truncate(count);
    let large = large.into_iter().map(|(_, large)| large).collect();
    Ok(LargestAnswer {
        rebuildable: Some(sum),
        tree: Some(tree),
        ..LargestAnswer::new(sizes, large, about)
    })
}

impl Large {
    fn rebuildable(node: &Node<'_>, rule: &Rule, sizes: &Sizes) -> Large {
        Large {
            rebuilt_by: Some(rule.rebuilt_by),
            ..Large::directory(node, sizes)
        }
    }

    fn file(file: &TopOf, sizes: &Sizes) -> Large {
        let allocated_bytes = file.attributes.allocated_bytes().unwrap_or(0);
        let apparent_bytes = file.attributes.size_bytes().unwrap_or(0);
        Large {
            path: file.path.clone(),
            bytes: sizes.of(allocated_bytes, apparent_bytes).into(),
            mtime_ns: file.attributes.mtime_ns(),
            is_incomplete: false,
            rebuilt_by: None,
            found: Found::File(Box::new(file.attributes)),
        }
    }

    fn directory(node: &Node<'_>, sizes: &Sizes) -> Large {
        Large {
            path: node.path(),
            bytes: bytes(node, sizes.column),
            mtime_ns: node.newest_mtime_ns(),
            is_incomplete: node.is_incomplete(),
            rebuilt_by: None,
            found: Found::Directory(node.id()),
        }
    }
}

impl LargestAnswer {
    /// A list of files, without the flags of the user.
    fn new(sizes: Sizes, large: Vec<Large>, about: About) -> LargestAnswer {
        LargestAnswer {
            sizes,
            rows_max: None,
            is_reversed: false,
            names: None,
            rebuildable: None,
            large,
            tree: None,
            about,
        }
    }

    /// The largest, at most so many, in the order of their rows.
    fn rows(&self, rows_max: usize) -> impl Iterator<Item = &Large> + Clone {
        let rows = &self.large[..self.large.len().min(rows_max)];
        let (forward, backward) = match self.is_reversed {
            false => (rows, &[][..]),
            true => (&[][..], rows),
        };
        forward.iter().chain(backward.iter().rev())
    }

    /// The sum of the directories that a program makes again, those without a row too.
    fn sum_lines(&self, sum: &Rebuildable, whole: u128, screen: Screen) -> Vec<String> {
        let terminal = screen.terminal;
        if sum.dirs == 0 {
            return wrap(
                "statwalk found no directory that a program makes again.",
                terminal,
            );
        }
        let bytes = self.sizes.of(sum.allocated_bytes, sum.apparent_bytes);
        let dirs = counted(sum.dirs, "directory", "directories");
        let size = self.sizes.format.text(bytes);
        if screen.rows < ROWS_FOR_SENTENCES {
            return wrap(&format!("{dirs} to rebuild: {size}."), terminal);
        }
        let share = share(bytes, whole);
        let share = share.trim_start();
        let text = format!("{dirs} can be rebuilt: {size}, {share} of the scan.");
        wrap(&text, terminal)
    }
}

impl Answer for LargestAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        if !self.about.has_root() {
            return Vec::new();
        }
        let now_ns = self.about.ended_ns();
        let summary = ending::summary(&self.about, screen);
        let whole = self
            .sizes
            .of(summary.allocated_bytes, summary.apparent_bytes);
        let mut columns = vec![
            Column::new(self.sizes.title(), Align::Right),
            Column::new("SHARE", Align::Left).optional(),
            Column::new("NEWEST", Align::Right).optional(),
        ];
        if self.rebuildable.is_some() {
            columns.push(Column::new("REBUILT BY", Align::Left));
        }
        let title = if self.tree.is_some() {
            "DIRECTORY"
        } else {
            "FILE"
        };
        columns.push(Column::new(title, Align::Left));
        let mut below = vec![String::new()];
        if let Some(sum) = &self.rebuildable {
            below.extend(self.sum_lines(sum, whole, screen));
        }
        below.extend(self.about.lines_below(self.sizes.format, screen));
        below.extend(self.about.no_blocks_lines(&self.sizes, screen));
        if let Some(names) = self.names.as_ref().filter(|_| self.large.is_empty()) {
            below.extend(own_names::below_no_files(
                &self.about,
                names,
                screen.terminal,
            ));
        }
        let fitting = self.about.rows_that_fit(below.len(), screen);
        let rows = self.rows(self.rows_max.unwrap_or(fitting)).map(|one| {
            let absent = || screen.terminal.charset.absent().to_owned();
            let newest = one.mtime_ns.map_or_else(absent, |ns| age(ns, now_ns));
            let mut cells = vec![
                Cell::Text(self.sizes.format.text(one.bytes).into()),
                Cell::Share {
                    part: one.bytes,
                    whole,
                },
                Cell::Text(newest.into()),
            ];
            cells.extend(one.rebuilt_by.map(|text| Cell::Text(text.into())));
            cells.push(match one.is_incomplete {
                true => Cell::Incomplete((&one.path).into()),
                false => Cell::Name((&one.path).into()),
            });
            cells
        });
        let rows: Vec<_> = rows.collect();
        let mut lines = list_table(&columns, &rows, screen.terminal);
        lines.extend(below);
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        for one in self.rows(usize::MAX) {
            rows.row(&[&self.sizes.format_in_rows.text(one.bytes)], &one.path)?;
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        self.about.document(self)
    }
}

impl Fields for LargestAnswer {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let tree = self.tree.as_ref();
        let top = self.rows(usize::MAX).map(|large| LargeJson { large, tree });
        object.list("top", top);
        object.known("rebuildable", self.rebuildable.as_ref().map(Json));
    }
}

/// A large file, or a large directory in the form that it has in `tree`.
struct LargeJson<'a> {
    large: &'a Large,
    tree: Option<&'a Tree>,
}

impl Fields for LargeJson<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        match (&self.large.found, self.tree) {
            (Found::File(attributes), _) => {
                EntryJson::of_file(&self.large.path, attributes).write(object)
            }
            (Found::Directory(id), Some(tree)) => NodeJson {
                tree: &ScannedTree::new(tree),
                node: Part::Node(*id),
                counts_inodes: false,
                rebuilt_by: self.large.rebuilt_by,
            }
            .write(object),
            (Found::Directory(_), None) => {}
        }
    }
}
