// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk PATH…`: where the space went.

use statwalk_core::{Totals, TreeSink};
use statwalk_view::Files;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::SummaryFlags;
use crate::output::ending::Errors;
use crate::output::json::Counted;
use crate::output::printer::{Scanned, print};
use crate::output::rows::Order;
use crate::output::summary::{SummaryAnswer, SummaryView};
use crate::request::{Form, Request, Sizes};
use crate::watch::watch;

pub(super) fn run(flags: SummaryFlags) -> Result<ExitStatus, Failure> {
    let sizes = Sizes::new(&flags.sizes)?;
    let view = SummaryView {
        sizes,
        order: Order::new(flags.sort, flags.reverse, sizes.column),
        counted: match flags.count {
            true => Counted::Names,
            false => Counted::Sizes,
        },
        depth_max: flags.max_depth,
        rows_max: flags.lines,
        files: match flags.all {
            true => Files::Shown,
            false => Files::Hidden,
        },
    };
    let mut request = Request::new(&flags.scan, flags.paths)?;
    if matches!(request.form, Form::Json(_)) {
        request.scan = request.scan.errors_kept(usize::MAX);
    }
    let answer = match flags.summarize || flags.count {
        true => scan_totals(request, view),
        false => scan_tree(request, view),
    }?;
    print(&answer, answer.scanned.request.form)?;
    let status = answer.scanned.conclude(Errors::Untold);
    // The program ends: to free a large tree piece by piece would only take time.
    std::mem::forget(answer);
    Ok(status)
}

fn scan_totals(request: Request, view: SummaryView) -> Result<SummaryAnswer, Failure> {
    let (sink, shown) = match view.counted {
        Counted::Names => (Totals::of_types(), None),
        Counted::Sizes => (Totals::with_sizes(), Some(view.sizes.format)),
    };
    let progress = request.progress(shown);
    let outcome = watch(&request.scan, &sink, progress, &mut ())?;
    Ok(SummaryAnswer {
        view,
        tree: None,
        scanned: Scanned {
            request,
            report: outcome.report,
            totals: outcome.output,
        },
    })
}

fn scan_tree(request: Request, view: SummaryView) -> Result<SummaryAnswer, Failure> {
    let tree = match view.files {
        Files::Shown => TreeSink::with_files(),
        Files::Hidden => TreeSink::of_directories(),
    };
    let progress = request.progress(Some(view.sizes.format));
    let sink = (Totals::with_sizes(), tree);
    let outcome = watch(&request.scan, &sink, progress, &mut ())?;
    let (totals, tree) = outcome.output;
    Ok(SummaryAnswer {
        view,
        tree: Some(tree),
        scanned: Scanned {
            request,
            report: outcome.report,
            totals,
        },
    })
}
