// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk df [PATH…]`: the used space of file systems, and the parts of it.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use statwalk_space::{FileSystem, MountTable};

use crate::answer::origin::Origin;
use crate::commands::delivery::{conclude, fail, form_of, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::DfFlags;
use crate::output::ending::Errors;
use crate::output::json::{self, DfJson, FileSystemJson, NotScannedJson};
use crate::output::plain::Rows;
use crate::output::printer::Answer;
use crate::output::space_list::{self, ListedSpace, Note};
use crate::output::space_table::signed_text;
use crate::request::{Form, Request, Sizes};
use crate::space::{DETAILS_DEFAULT, Explained, Watched, explain};
use crate::system::file_systems::{ANSWER_WAIT, MountedSpace, file_system_of, file_systems};
use crate::system::screen::Screen;

/// The file systems of all paths, or all of the machine.
pub(super) struct DfAnswer {
    origin: Arc<Origin>,
    sizes: Sizes,
    details_max: usize,
    explained: Vec<Explained>,
    /// Those that no scan explains, where the user named no path.
    not_scanned: Vec<NotScanned>,
    /// Whether the user named no path, and there are several: then one table has them all.
    is_list: bool,
}

/// A file system without a scan, and the reason.
struct NotScanned {
    mounted: MountedSpace,
    reason: String,
}

pub(super) fn run(flags: DfFlags) -> Result<ExitStatus, Failure> {
    let form = form_of(&flags.form);
    let (answer, mut status) = answer_of(&flags)?;
    print(&answer, form)?;
    for explained in &answer.explained {
        let errors = conclude(&explained.request, &explained.about, Errors::Untold);
        status = worse(status, errors);
    }
    Ok(status)
}

/// Scans the file systems, and makes the answer; with the status of those that have none.
pub(super) fn answer_of(flags: &DfFlags) -> Result<(DfAnswer, ExitStatus), Failure> {
    let sizes = Sizes::on_disk(&flags.units)?;
    let form = form_of(&flags.form);
    let mut answer = DfAnswer {
        origin: Origin::of_this_process(),
        sizes,
        details_max: flags.lines.unwrap_or(DETAILS_DEFAULT),
        explained: Vec::new(),
        not_scanned: Vec::new(),
        is_list: false,
    };
    let source = Watched {
        progress: flags.progress,
        format: sizes.format,
    };
    let status = match flags.paths.is_empty() {
        true => answer.add_all(form, &source)?,
        false => answer.add_paths(&flags.paths, form, &source)?,
    };
    answer.is_list =
        flags.paths.is_empty() && (answer.explained.len() != 1 || !answer.not_scanned.is_empty());
    Ok((answer, status))
}

impl DfAnswer {
    /// Explains the file systems of paths, each once.
    fn add_paths(
        &mut self,
        paths: &[OsString],
        form: Form,
        source: &Watched,
    ) -> Result<ExitStatus, Failure> {
        let mut status = ExitStatus::Complete;
        let mut seen = HashSet::new();
        let mut table = MountTable::default();
        for path in paths {
            let file_system = match file_system_of(Path::new(path), &mut table) {
                Ok(file_system) => file_system,
                Err(failure) => {
                    status = fail(failure);
                    continue;
                }
            };
            if seen.insert(file_system.device()) && self.add(file_system, form, source)? {
                break;
            }
        }
        Ok(status)
    }

    /// Explains the file systems of the machine, but for those elsewhere.
    fn add_all(&mut self, form: Form, source: &Watched) -> Result<ExitStatus, Failure> {
        let mut status = ExitStatus::Complete;
        let mut is_interrupted = false;
        let mut seen = HashSet::new();
        let mut table = MountTable::default();
        for mounted in file_systems(ANSWER_WAIT)? {
            let mut leave_out = |reason: String| {
                self.not_scanned.push(NotScanned {
                    mounted: mounted.clone(),
                    reason,
                })
            };
            if mounted.space.is_none() {
                status = ExitStatus::Incomplete;
                leave_out(format!("no answer for {} s", ANSWER_WAIT.as_secs()));
            } else if is_interrupted {
                leave_out("interrupted before its scan".to_owned());
            } else if mounted.is_remote() {
                leave_out(format!("{} is not scanned unasked", mounted.file_system));
            } else {
                match file_system_of(&mounted.point, &mut table) {
                    Ok(file_system) if seen.insert(file_system.device()) => {
                        is_interrupted = self.add(file_system, form, source)?;
                    }
                    Ok(_) => {}
                    Err(failure) => {
                        status = ExitStatus::Incomplete;
                        leave_out(failure.to_string());
                    }
                }
            }
        }
        Ok(status)
    }

    /// Scans a file system. Returns whether the user interrupted that.
    fn add(
        &mut self,
        file_system: FileSystem,
        form: Form,
        source: &Watched,
    ) -> Result<bool, Failure> {
        let points = file_system.shown().map(PathBuf::from).collect();
        let request = Request::of_scan(file_system.scan(), points, form, source.progress);
        let explained = explain(file_system, request, source)?;
        let is_interrupted = explained.about.gaps.interrupted;
        self.explained.push(explained);
        Ok(is_interrupted)
    }

    /// The file systems as one list, the fullest first.
    fn listed(&self) -> Vec<ListedSpace<'_>> {
        let explained = self.explained.iter().map(|explained| ListedSpace {
            point: explained.file_system.point(),
            space: Some(explained.space()),
            note: Note::Explained(&explained.account),
        });
        let others = self.not_scanned.iter().map(|other| ListedSpace {
            point: &other.mounted.point,
            space: other.mounted.space,
            note: Note::NotScanned(&other.reason),
        });
        let mut listed: Vec<_> = explained.chain(others).collect();
        listed.sort_by_key(|one| Reverse(one.space.map(|space| space.used_bytes)));
        listed
    }
}

/// The one of two statuses that counts: a signal, then a missing path, then an entry that
/// could not be read.
fn worse(a: ExitStatus, b: ExitStatus) -> ExitStatus {
    let rank = |status| match status {
        ExitStatus::Complete => 0,
        ExitStatus::Incomplete => 1,
        ExitStatus::OverLimit => 2,
        ExitStatus::Failed => 3,
        ExitStatus::Interrupted(_) => 4,
    };
    match rank(b) > rank(a) {
        true => b,
        false => a,
    }
}

impl Answer for DfAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        let format = self.sizes.format;
        let (rows, terminal) = (screen.rows, screen.terminal);
        if self.is_list {
            return space_list::lines(&self.listed(), format, rows, terminal);
        }
        let mut lines = Vec::new();
        for explained in &self.explained {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let table = explained.table(format, self.details_max);
            lines.extend(table.lines(rows, terminal));
        }
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        let format = self.sizes.format_in_rows;
        let explained = self.explained.iter();
        let explained = explained.map(|one| (one.file_system.point(), one.space(), Some(one)));
        let others = self.not_scanned.iter();
        let others = others.filter_map(|one| Some((&*one.mounted.point, one.mounted.space?, None)));
        for (point, space, explained) in explained.chain(others) {
            let point = point.as_os_str().as_bytes();
            let account = explained.map(|one| &one.account);
            let reserved = account.map(|account| account.capacity.reserved_bytes);
            for (name, bytes) in [
                ("total", Some(space.total_bytes)),
                ("free", Some(space.free_bytes)),
                ("reserved-for-root", reserved),
                ("used", Some(space.used_bytes)),
            ] {
                let Some(bytes) = bytes else { continue };
                rows.row(&[&format.text(bytes.into()), name], point)?;
            }
            for (part, bytes) in account.iter().flat_map(|account| &account.parts) {
                rows.row(&[&signed_text(format, *bytes), part.name()], point)?;
            }
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        let file_systems = self.explained.iter().map(|explained| FileSystemJson {
            found: &explained.file_system,
            account: &explained.account,
            about: &explained.about,
        });
        let not_scanned = self.not_scanned.iter().map(|one| NotScannedJson {
            mounted: &one.mounted,
            reason: &one.reason,
        });
        let document = DfJson {
            file_systems: file_systems.collect(),
            not_scanned: not_scanned.collect(),
        };
        json::alone(&self.origin, document)
    }
}
