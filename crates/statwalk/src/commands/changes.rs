// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk changes PATH --since GENERATION`: the changes since an earlier scan.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use statwalk_core::Generation;
use statwalk_space::btrfs::{Change, Changes, changes_since};
use statwalk_view::{Align, Cell, Column, counted, list_table};

use crate::answer::origin::Origin;
use crate::commands::delivery::{form_of, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::ChangesFlags;
use crate::output::json::{self, ChangesJson};
use crate::output::plain::Rows;
use crate::output::printer::Answer;
use crate::request::{Form, Sizes, invalid};
use crate::system::screen::Screen;
use crate::system::stdio::say;

/// The changes below a directory.
pub(super) struct ChangesAnswer<'a> {
    origin: Arc<Origin>,
    path: &'a Path,
    since: Generation,
    sizes: Sizes,
    found: Changes,
    elapsed: Duration,
}

pub(super) fn run(flags: ChangesFlags) -> Result<ExitStatus, Failure> {
    let answer = answer_of(&flags)?;
    let form = form_of(&flags.form);
    print(&answer, form)?;
    if matches!(form, Form::Rows(_)) {
        say(&format!(
            "next time, use --since {}",
            answer.found.generation
        ));
    }
    Ok(ExitStatus::Complete)
}

/// Searches for the changes, and makes the answer.
pub(super) fn answer_of(flags: &ChangesFlags) -> Result<ChangesAnswer<'_>, Failure> {
    let sizes = Sizes::new(&flags.sizes)?;
    let path = Path::new(&flags.path);
    let since = flags
        .since
        .parse()
        .map_err(|error| invalid("--since", &flags.since, error))?;
    let started = Instant::now();
    Ok(ChangesAnswer {
        origin: Origin::of_this_process(),
        path,
        since,
        sizes,
        found: changes_since(path, since)?,
        elapsed: started.elapsed(),
    })
}

impl ChangesAnswer<'_> {
    fn bytes(&self, change: &Change) -> u128 {
        let attributes = &change.attributes;
        let bytes = self.sizes.of(
            attributes.allocated_bytes().unwrap_or(0),
            attributes.size_bytes().unwrap_or(0),
        );
        bytes.into()
    }
}

impl Answer for ChangesAnswer<'_> {
    fn lines(&self, screen: Screen) -> Vec<String> {
        let (found, since) = (&self.found, self.since.number);
        let mut lines = Vec::new();
        if !found.changes.is_empty() {
            let columns = [
                Column::new("NEW", Align::Left),
                Column::new(self.sizes.title(), Align::Right).optional(),
                Column::new("PATH", Align::Left),
            ];
            let cells = |change: &Change| {
                vec![
                    Cell::Text(change.kind.name().into()),
                    Cell::Text(self.sizes.format.text(self.bytes(change)).into()),
                    Cell::Name(change.path.clone().into()),
                ]
            };
            let rows: Vec<_> = found.changes.iter().map(cells).collect();
            lines.extend(list_table(&columns, &rows, screen.terminal));
            lines.push(String::new());
        }
        let count = match found.changes.len() {
            0 => format!("Nothing changed since generation {since}"),
            count => {
                let count = counted(count as u64, "path", "paths");
                format!("{count} changed since generation {since}")
            }
        };
        let generation = found.generation;
        lines.push(format!("{count}. Next time, use --since {generation}."));
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        for change in &self.found.changes {
            let bytes = self.sizes.format_in_rows.text(self.bytes(change));
            rows.row(&[change.kind.name(), &bytes], &change.path)?;
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        let document = ChangesJson {
            path: self.path,
            since: self.since,
            found: &self.found,
            elapsed: self.elapsed,
        };
        json::alone(&self.origin, document)
    }
}
