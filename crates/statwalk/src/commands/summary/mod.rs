// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk PATH…`: where the space went.

mod answer;
mod file_roots;

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use statwalk_core::{Time, Top, Totals, TreeSink};
use statwalk_view::{DateStyle, Files, SizeColumn, SizeFilter, SortKey};

use self::answer::{SummaryAnswer, SummaryView, Times};
use self::file_roots::FileRoots;
use crate::answer::about::About;
use crate::answer::filter_texts::FilterTexts;
use crate::answer::largest_files::{self, LargestFiles};
use crate::commands::delivery::{conclude, form_of, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{SortName, SummaryFlags, TimeName};
use crate::output::ending::Errors;
use crate::output::json::Counted;
use crate::output::rows::Order;
use crate::request::filters::{Filters, NameFilters};
use crate::request::path_list::PathList;
use crate::request::{Form, Request, Sizes, invalid, size};
use crate::system::used_inodes;
use crate::watch::progress::ProgressOptions;
use crate::watch::reading::read;

pub(super) fn run(flags: SummaryFlags) -> Result<ExitStatus, Failure> {
    let limit = flags.fail_over.as_deref();
    let limit = limit.map(|text| size("--fail-over", text)).transpose()?;
    let (request, answer) = answer_of(flags)?;
    print(&answer, request.form)?;
    let mut status = conclude(&request, &answer.about, Errors::Untold);
    if let Some(limit) = limit
        && answer.exceeds(limit)
        // A lower bound above the limit is above it.
        && matches!(status, ExitStatus::Complete | ExitStatus::Incomplete)
    {
        status = ExitStatus::OverLimit;
    }
    // The program ends: to free a large tree piece by piece would only take time.
    std::mem::forget(answer);
    Ok(status)
}

/// Scans, and makes the answer.
pub(super) fn answer_of(flags: SummaryFlags) -> Result<(Request, SummaryAnswer), Failure> {
    refuse_ignored(&flags)?;
    let mut sizes = Sizes::new(&flags.sizes)?;
    let form = form_of(&flags.scan.walk.form);
    let mut request = match &flags.files0_from {
        Some(file) => Request::of_list(&flags.scan, PathList::read(file)?, form)?,
        None => Request::new(&flags.scan, flags.paths.clone(), form)?,
    };
    if flags.time == Some(TimeName::Atime)
        && let Some(stored) = request.stored()
        && !stored.has_access_times()
    {
        let message = "--time=atime needs times that the snapshot lacks: try statwalk snapshot \
                       --access-times";
        return Err(Failure::Usage(message.to_owned()));
    }
    let filters = Filters::new(&flags.filters, request.stored());
    let filters = filters.map_err(|error| as_of_du(error, &flags))?;
    let (counted, sort) = match (flags.count, flags.inodes) {
        (true, _) => (Counted::Names, SortName::Count),
        (_, true) => (Counted::Inodes, SortName::Count),
        _ => (Counted::Sizes, SortName::Size),
    };
    if counted == Counted::Inodes {
        sizes.column = SizeColumn::Inodes;
    }
    let sort = flags.sort.unwrap_or(sort);
    let view = SummaryView {
        sizes,
        order: Order::new(sort, flags.reverse, sizes.column),
        has_own_order: flags.sort.is_some() || flags.reverse,
        counted,
        depth_max: match flags.summarize {
            true => Some(0),
            false => flags.max_depth,
        },
        rows_max: flags.lines,
        has_total_row: flags.total,
        times: flags.time.map(|time| times(time, &flags)).transpose()?,
        min_bytes: match &flags.min_size {
            Some(text) => size("--min-size", text)?,
            None => 0,
        },
        is_filtered: !filters.is_empty(),
        names: NameFilters::new(&flags.filters),
        files: match flags.all {
            true => Files::Shown,
            false => Files::Hidden,
        },
    };
    let totals_alone = shows_totals(&flags);
    request.filters = FilterTexts::new(&flags.filters);
    if matches!(request.form, Form::Json(_)) {
        request.keep_all_errors();
    }
    let answer = match totals_alone {
        true => scan_totals(&request, view, filters),
        false => scan_tree(&request, view, filters, flags.time),
    }?;
    Ok((request, answer))
}

/// Says what two letters mean that du knows as others: `du -S PATH`, `du -t SIZE PATH`.
fn as_of_du(error: Failure, flags: &SummaryFlags) -> Failure {
    let Failure::Usage(message) = error else {
        return error;
    };
    let filters = &flags.filters;
    let is_size = |text: &String| text.parse::<SizeFilter>().is_ok();
    let tip = if !filters.size.iter().all(is_size) {
        "; unlike du, statwalk sums whole subtrees, and -S SIZE is a filter"
    } else if !filters.kind.is_empty() {
        "; for du's threshold use --min-size SIZE"
    } else {
        ""
    };
    Failure::Usage(message + tip)
}

/// The column of times that the flags select.
fn times(time: TimeName, flags: &SummaryFlags) -> Result<Times, Failure> {
    let style = match &flags.time_style {
        Some(text) => text
            .parse()
            .map_err(|error| invalid("--time-style", text, error))?,
        None => DateStyle::default(),
    };
    Ok(Times {
        title: match time {
            TimeName::Mtime => "MODIFIED",
            TimeName::Atime => "ACCESSED",
            TimeName::Ctime => "CHANGED",
        },
        style,
        zone: TimeZone::system(),
    })
}

/// Whether the answer is the total of each path, without a tree.
fn shows_totals(flags: &SummaryFlags) -> bool {
    let needs_tree = flags.inodes || flags.time.is_some();
    (flags.summarize && !needs_tree) || (flags.count && flags.max_depth.is_none())
}

/// Refuses flags that would change nothing: a user who gives one wants something.
fn refuse_ignored(flags: &SummaryFlags) -> Result<(), Failure> {
    let totals = shows_totals(flags);
    let orders =
        flags.sort.is_some() || flags.reverse || flags.lines.is_some() || flags.min_size.is_some();
    let message = match flags.sort {
        Some(SortName::Size) if flags.count => {
            "--sort size needs sizes, which --count does not read: try --sort count"
        }
        Some(SortName::Mtime) if flags.count => {
            "--sort mtime needs times, which --count does not read: try --sort count"
        }
        Some(SortName::Mtime) if totals => {
            "--sort mtime needs times, which --summarize does not read: try --max-depth 0"
        }
        _ if totals
            && flags.scan.walk.form.json
            && (flags.sizes.apparent_size || flags.sizes.bytes) =>
        {
            "--json has both sizes in bytes: --apparent-size and --bytes change nothing in totals"
        }
        _ if totals && orders && flags.scan.walk.form.json => {
            "--json has the totals in the order of the paths: --sort, --reverse, --lines and \
             --min-size need rows; try --max-depth 0"
        }
        _ => return Ok(()),
    };
    Err(Failure::Usage(message.to_owned()))
}

/// Whether a count tells files from links and the rest. Rows have one number, and a file
/// system without types in its listings then takes fewer stats.
fn shows_types(request: &Request) -> bool {
    !matches!(request.form, Form::Rows(_))
}

fn scan_totals(
    request: &Request,
    view: SummaryView,
    filters: Filters,
) -> Result<SummaryAnswer, Failure> {
    let (sink, shown) = match view.counted {
        Counted::Names => match shows_types(request) {
            true => (Totals::new().without_sizes(), None),
            false => (Totals::new().without_types(), None),
        },
        Counted::Sizes | Counted::Inodes => (Totals::new(), Some(view.sizes.format)),
    };
    let sink = match filters.test() {
        Some((fields, test)) => sink.with_filter(fields, test),
        None => sink,
    };
    let progress = ProgressOptions::new(request, shown);
    let is_asked = view.is_filtered && request.paths.len() > 1;
    let sink = (sink, is_asked.then_some(FileRoots));
    let read = read(request, &sink, progress)?;
    let (totals, file_roots) = read.output;
    let about = About::of_scan(request, read.record, &totals);
    Ok(SummaryAnswer {
        view: view.of_scan(&about, request.form),
        tree: None,
        file_roots: file_roots.unwrap_or_default(),
        large_files: Vec::new(),
        about,
    })
}

fn scan_tree(
    request: &Request,
    view: SummaryView,
    filters: Filters,
    time: Option<TimeName>,
) -> Result<SummaryAnswer, Failure> {
    let (totals, tree, shown) = match (view.counted, view.files) {
        (Counted::Names, _) => match shows_types(request) {
            true => (
                Totals::new().without_sizes(),
                TreeSink::new().without_sizes(),
                None,
            ),
            false => (
                Totals::new().without_types(),
                TreeSink::new().without_types(),
                None,
            ),
        },
        (Counted::Sizes | Counted::Inodes, files) => {
            let tree = match files {
                Files::Shown => TreeSink::new().with_files(),
                Files::Hidden => TreeSink::new(),
            };
            let tree = match view.counted {
                Counted::Inodes => tree.with_inode_counts(),
                _ => tree,
            };
            let tree = match time {
                Some(TimeName::Mtime) => tree.with_newest(Time::Modified),
                Some(TimeName::Atime) => tree.with_newest(Time::Accessed),
                Some(TimeName::Ctime) => tree.with_newest(Time::Changed),
                None => tree,
            };
            (Totals::new(), tree, Some(view.sizes.format))
        }
    };
    let progress = ProgressOptions::new(request, shown);
    let mut large = large_files(request, &view);
    let (totals, tree) = match filters.test() {
        Some((fields, test)) => {
            large = large.map(|(top, apparent)| {
                let filtered = |top: Top| top.with_filter(fields, test.clone());
                (filtered(top), apparent.map(filtered))
            });
            (
                totals.with_filter(fields, test.clone()),
                tree.with_filter(fields, test),
            )
        }
        None => (totals, tree),
    };
    let sink = (totals, tree, large);
    let read = read(request, &sink, progress)?;
    let (totals, tree, large_files) = read.output;
    let mut about = About::of_scan(request, read.record, &totals);
    let is_of_all = view.sizes.column == SizeColumn::Disk && !view.is_filtered;
    if is_of_all && !about.gaps.interrupted && matches!(request.form, Form::Screen(_)) {
        about.elsewhere = (request.cover())
            .and_then(|cover| used_inodes::elsewhere(&cover, about.allocated_bytes()));
    }
    let view = view.of_scan(&about, request.form);
    Ok(SummaryAnswer {
        large_files: large_files.map_or_else(Vec::new, |files| {
            largest_files::chosen(files, view.sizes.lacks_blocks)
        }),
        view,
        tree: Some(tree),
        file_roots: BTreeSet::new(),
        about,
    })
}

/// With `-d` a file that is too deep has no row, and the next one can have it.
const LARGE_FILES_PER_ROW: usize = 4;
/// A bound for the memory of each worker. `-a` shows more.
const LARGE_FILES_MAX: usize = 1 << 16;

/// The sink of the files that can have a row: without `-a` the tree keeps none.
fn large_files(request: &Request, view: &SummaryView) -> Option<LargestFiles> {
    let Form::Screen(screen) = request.form else {
        return None;
    };
    // By counts or times, the first rows are not those of the largest.
    let is_by_size = matches!(view.order.key, SortKey::Size | SortKey::Name);
    if view.files == Files::Shown || view.counted == Counted::Names || !is_by_size {
        return None;
    }
    let rows = view.rows_max.unwrap_or(screen.rows);
    if view.sizes.column == SizeColumn::Inodes {
        // No file has more than another.
        return None;
    }
    let count = match view.depth_max {
        Some(_) => rows.saturating_mul(LARGE_FILES_PER_ROW),
        None => rows,
    };
    let count = count.min(LARGE_FILES_MAX);
    Some(largest_files::largest_files(count, view.sizes.column))
}
