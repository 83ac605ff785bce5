// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk report`: the disk as one HTML file, or as Markdown.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap};
use statwalk_core::CountedInodes;
use statwalk_report::{Detail, Names, html, markdown};
use statwalk_view::{SizeFormat, grouped, wrap};

use crate::answer::about::About;
use crate::answer::largest_files;
use crate::commands::delivery::{conclude, form_of, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{ReportFlags, ReportFormat};
use crate::output::Output;
use crate::output::ending::Errors;
use crate::output::json::{Field, Fields, Object};
use crate::output::plain::Rows;
use crate::output::printer::Answer;
use crate::report::{self, file_name_of};
use crate::request::{Form, Request, invalid, safe};
use crate::system::programs;
use crate::system::screen;
use crate::system::screen::Screen;
use crate::system::stdio::reason;
use crate::system::whole_file::{Existing, WholeFile};
use crate::watch::progress::ProgressOptions;
use crate::watch::reading::read;

/// The place of a report.
enum Target {
    Stdout,
    File(WholeFile, PathBuf),
}

/// A report that was written.
struct ReportAnswer {
    path: PathBuf,
    format: ReportFormat,
    byte_count: u64,
    /// The part of the tree that is in the file; absent for a text.
    nodes: Option<Nodes>,
    about: About,
}

/// The part of a tree that is in a file.
#[derive(Clone, Copy)]
struct Nodes {
    count: u64,
    /// Whether some of them are sums of others.
    has_sums: bool,
}

pub(super) fn run(flags: ReportFlags) -> Result<ExitStatus, Failure> {
    let names = match flags.redact {
        true => Names::Redacted,
        false => Names::Original,
    };
    let detail = detail(&flags)?;
    let mut request = Request::new(
        &flags.scan,
        flags.paths.clone(),
        form_of(&flags.scan.walk.form),
    )?;
    let target = target(&flags, &request, names)?;
    if let Target::Stdout = target {
        request.prepare_for_a_stream(screen::stdout_is_file());
    }
    let inodes = CountedInodes::new();
    let sinks = report::Scan::sinks(&inodes);
    let read = read(
        &request,
        &sinks,
        ProgressOptions::new(&request, Some(SizeFormat::Binary)),
    )?;
    let (totals, tree, (largest, traces)) = read.output;
    let spaces = report::spaces(&request, &totals, &read.record, &tree, &inodes);
    let about = About::of_scan(&request, read.record, &totals);
    let scan = report::Scan {
        tree,
        largest: largest_files::chosen(largest, about.has_no_blocks()),
        traces,
        stored: request
            .stored
            .as_ref()
            .map(|(stored, _)| Arc::clone(stored)),
    };
    if !about.has_root() {
        // There is nothing to report on; the reasons are on stderr.
        return Ok(conclude(&request, &about, Errors::Untold));
    }
    let page = matches!(flags.format, ReportFormat::Html).then_some((detail, names));
    let (answer, tree, choice) = report::answer(&scan, &about, spaces, page);
    let (pieces, nodes) = match choice {
        Some(choice) => {
            let page = html(&answer, &tree, choice);
            let nodes = Nodes {
                count: page.node_count(),
                has_sums: page.has_sums(),
            };
            (page.into_pieces(), Some(nodes))
        }
        None => (vec![markdown(&answer, names)], None),
    };
    let byte_count = pieces.iter().map(|piece| piece.len() as u64).sum();
    let status = match target {
        Target::Stdout => {
            let mut out = Output::new();
            for piece in &pieces {
                out.write(|out| io::Write::write_all(out, piece.as_bytes()))?;
            }
            out.finish()?;
            conclude(&request, &about, Errors::Untold)
        }
        Target::File(file, path) => {
            let path = write(file, &pieces).map_err(|error| cannot_write(&path, &error))?;
            if flags.open {
                programs::open(path.as_os_str().as_bytes()).map_err(Failure::Usage)?;
            }
            let answer = ReportAnswer {
                path,
                format: flags.format,
                byte_count,
                nodes,
                about,
            };
            print(&answer, request.form)?;
            conclude(&request, &answer.about, Errors::Untold)
        }
    };
    // The program ends: to free a large tree piece by piece would only take time.
    std::mem::forget(tree);
    std::mem::forget(scan);
    Ok(status)
}

/// The level of detail that the flags ask for.
///
/// Returns an error for a value that is neither a number nor `full`, and where the format
/// has no detail.
fn detail(flags: &ReportFlags) -> Result<Detail, Failure> {
    let Some(text) = &flags.detail else {
        return Ok(Detail::default());
    };
    if flags.format != ReportFormat::Html {
        let message = "--detail is for HTML: the other format has the largest entries alone";
        return Err(Failure::Usage(message.to_owned()));
    }
    match (text.as_str(), text.parse()) {
        ("full", _) => Ok(Detail::Full),
        (_, Ok(count @ 1..)) => Ok(Detail::Nodes(count)),
        _ => Err(invalid("--detail", text, "must be a number, or full")),
    }
}

/// The place where the report goes. It is checked before the scan.
fn target(flags: &ReportFlags, request: &Request, names: Names) -> Result<Target, Failure> {
    let stdout = Path::new("-");
    if flags.output.as_deref() == Some(stdout) {
        let is_page = flags.format == ReportFormat::Html;
        let message = match request.form {
            _ if is_page && screen::stdout_is_terminal() => {
                "a page is nothing for a terminal: name a file with -o FILE, or use --format markdown"
            }
            _ if flags.open => "--open needs a file: name it with -o FILE",
            _ if flags.force => "--force needs a file: name it with -o FILE",
            Form::Json(_) => "--json and -o - both write to the standard output",
            _ => return Ok(Target::Stdout),
        };
        return Err(Failure::Usage(message.to_owned()));
    }
    let existing = match flags.force {
        true => Existing::Replaced,
        false => Existing::Kept,
    };
    let (path, begun) = match &flags.output {
        Some(path) => {
            let begun = WholeFile::begin(path, existing).map(|file| (file, path.clone()));
            (path.clone(), begun)
        }
        None => {
            let ending = match flags.format {
                ReportFormat::Html => "html",
                ReportFormat::Markdown => "md",
            };
            let plain = file_name_of(request, names, ending);
            let begun = WholeFile::begin_numbered(&plain, existing);
            (plain, begun)
        }
    };
    match begun {
        Ok((file, path)) => Ok(Target::File(file, path)),
        Err(error) => Err(cannot_write(&path, &error)),
    }
}

/// Answers with the path of the file.
fn write(mut file: WholeFile, pieces: &[String]) -> io::Result<PathBuf> {
    for piece in pieces {
        file.write(piece.as_bytes())?;
    }
    file.finish()
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let path = safe(&path.to_string_lossy());
    let remedy = match error.kind() {
        io::ErrorKind::AlreadyExists => "; try --force",
        _ => "",
    };
    Failure::Usage(format!("cannot write {path}: {}{remedy}", reason(error)))
}

impl Answer for ReportAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        let path = safe(&self.path.to_string_lossy());
        let size = SizeFormat::Binary.text(self.byte_count.into());
        let entries = (self.about.roots.iter())
            .map(|root| root.totals.entries)
            .sum();
        let content = match self.nodes {
            Some(nodes) if nodes.has_sums => {
                let (nodes, entries) = (grouped(nodes.count), grouped(entries));
                format!(", with {nodes} nodes for {entries} entries")
            }
            Some(_) => format!(", with all {} entries", grouped(entries)),
            None => String::new(),
        };
        let mut lines = wrap(&format!("{path}: {size}{content}"), screen.terminal);
        lines.extend(self.about.closing_lines(SizeFormat::Binary, screen));
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        rows.row(
            &[&self.byte_count.to_string()],
            self.path.as_os_str().as_bytes(),
        )
    }

    fn document(&self) -> impl Serialize {
        self.about.document(Field("report", self))
    }
}

impl Fields for ReportAnswer {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("path", self.path.as_os_str().as_bytes());
        object.field(
            "format",
            match self.format {
                ReportFormat::Html => "html",
                ReportFormat::Markdown => "markdown",
            },
        );
        object.field("bytes", self.byte_count);
        object.known("nodes", self.nodes.map(|nodes| nodes.count));
    }
}
