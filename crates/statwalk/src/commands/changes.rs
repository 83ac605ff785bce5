// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk changes PATH --since GENERATION`: the changes since an earlier scan.

use std::path::Path;
use std::time::Instant;

use statwalk_core::{Change, Changes, changes_since};
use statwalk_view::{Align, Cell, Column, grouped, list_table};

use crate::exit_status::ExitStatus;
use crate::failure::{Failure, say};
use crate::flags::ChangesFlags;
use crate::output::Output;
use crate::output::json::{self, ChangesJson};
use crate::output::plain::Rows;
use crate::output::screen::Screen;
use crate::request::{Form, Sizes, form};

pub(super) fn run(flags: &ChangesFlags) -> Result<ExitStatus, Failure> {
    let sizes = Sizes::new(&flags.sizes)?;
    let (path, since) = (Path::new(&flags.path), flags.since);
    let started = Instant::now();
    let found = changes_since(path, since)?;
    match form(&flags.form) {
        Form::Screen(screen) => print_table(&found, since, &sizes, screen)?,
        Form::Rows(end) => {
            let mut rows = Rows::new(end);
            for change in &found.changes {
                let bytes = sizes.format_in_rows.text(bytes_of(change, &sizes));
                rows.row(&[change.kind.name(), &bytes], &change.path)?;
            }
            rows.finish()?;
            say(&format!("next time, use --since {}", found.generation));
        }
        Form::Json(screen) => {
            let answer = ChangesJson::new(path, since, &found, started.elapsed());
            json::write_alone(screen, &answer)?;
        }
    }
    Ok(ExitStatus::Complete)
}

fn bytes_of(change: &Change, sizes: &Sizes) -> u128 {
    let attributes = &change.attributes;
    let bytes = sizes.of(
        attributes.allocated_bytes().unwrap_or(0),
        attributes.size_bytes().unwrap_or(0),
    );
    bytes.into()
}

fn print_table(found: &Changes, since: u64, sizes: &Sizes, screen: Screen) -> Result<(), Failure> {
    let mut out = Output::new();
    if !found.changes.is_empty() {
        let column = |title, align| Column { title, align };
        let columns = [
            column("NEW", Align::Left),
            column(sizes.title(), Align::Right),
            column("PATH", Align::Left),
        ];
        let rows: Vec<_> = found
            .changes
            .iter()
            .map(|change| {
                vec![
                    Cell::Text(change.kind.name().into()),
                    Cell::Text(sizes.format.text(bytes_of(change, sizes)).into()),
                    Cell::Name((&change.path).into()),
                ]
            })
            .collect();
        out.lines(list_table(&columns, &rows, screen.terminal))?;
        out.lines([""])?;
    }
    let count = match found.changes.len() {
        0 => format!("Nothing changed since generation {since}"),
        1 => format!("1 path changed since generation {since}"),
        count => format!(
            "{} paths changed since generation {since}",
            grouped(count as u64)
        ),
    };
    out.lines([format!(
        "{count}. Next time, use --since {}.",
        found.generation
    )])?;
    out.finish()
}
