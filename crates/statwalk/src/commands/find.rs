// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk find`: entries whose names match, as fd lists them.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::sync::Arc;

use statwalk_core::{Attributes, Batch, Collect, Context, DirState, Directory, Fields, Sink};
use statwalk_view::escape;

use crate::exit_status::ExitStatus;
use crate::failure::{Failure, say};
use crate::flags::FindFlags;
use crate::output::ending::{self, Errors};
use crate::output::json::{self, FoundJson};
use crate::output::stream::Stream;
use crate::request::filters::Filters;
use crate::request::name_pattern::NamePattern;
use crate::request::{Form, Request, safe};
use crate::watch::{Companion, watch};

pub(super) fn run(flags: FindFlags) -> Result<ExitStatus, Failure> {
    let mut filters = Filters::new(&flags.filters)?;
    let (paths, pattern) = paths_and_pattern(flags.words, !flags.filters.glob.is_empty());
    let one_word = match (&paths[..], &pattern) {
        ([word], None) => Some(safe(&word.to_string_lossy())),
        _ => None,
    };
    if let Some(pattern) = pattern {
        filters.push_pattern(NamePattern::regex(&pattern)?);
    }
    let mut request = Request::new(&flags.scan, paths)?;
    request.prepare_for_a_stream();
    request.limit_depth(flags.max_depth);
    let stream = Arc::new(Stream::new(flags.lines));
    let search = Arc::new(Search {
        filters,
        form: request.form,
    });
    let sink = Find {
        search,
        stream: Arc::clone(&stream),
    };
    let progress = request.progress(None);
    let outcome = watch(&request.scan, &sink, progress, &mut Flusher::new(&stream))?;
    stream.finish()?;
    let status = ending::conclude(&request, &outcome.report, Errors::Untold);
    if let Some(word) = one_word.filter(|_| status == ExitStatus::Failed) {
        say(&format!(
            "'{word}' is taken as a path. To search the current directory: statwalk find . {word}"
        ));
    }
    Ok(status)
}

/// Tells what of the words is searched, and what for.
fn paths_and_pattern(mut words: Vec<OsString>, has_glob: bool) -> (Vec<OsString>, Option<String>) {
    let is_pattern = |word: &OsString| !word.as_encoded_bytes().contains(&b'/');
    let mut pattern = None;
    if words.len() > 1 && !has_glob && words.last().is_some_and(is_pattern) {
        // What is no UTF-8 cannot be a pattern, and no name as such matches it.
        pattern = words.pop().map(|word| word.to_string_lossy().into_owned());
    }
    (words, pattern)
}

/// What is searched for, and how it is written.
struct Search {
    filters: Filters,
    form: Form,
}

struct Find {
    search: Arc<Search>,
    stream: Arc<Stream>,
}

/// What one worker finds goes to its own part of the stream.
struct FindState {
    search: Arc<Search>,
    stream: Arc<Stream>,
    part: usize,
}

impl Sink for Find {
    type State = FindState;
    type Output = ();

    fn fields(&self) -> Fields {
        self.search.filters.fields()
    }

    fn states(&self, _: &Context, count: usize) -> Vec<FindState> {
        let parts = self.stream.add_parts(count);
        parts
            .map(|part| FindState {
                search: Arc::clone(&self.search),
                stream: Arc::clone(&self.stream),
                part,
            })
            .collect()
    }

    fn merge(&self, _: &Context, _: Vec<FindState>) {}
}

impl Search {
    fn write(&self, path: &[u8], attributes: &Attributes, out: &mut Vec<u8>) {
        match self.form {
            Form::Screen(screen) => {
                out.extend_from_slice(escape(path, screen.terminal.charset).as_bytes());
                out.push(b'\n');
            }
            Form::Rows(end) => {
                out.extend_from_slice(path);
                out.push(end.byte());
            }
            Form::Json(screen) => json::line(&FoundJson::new(path, attributes), screen, out),
        }
    }
}

impl Collect for FindState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        let is_wanted = directory.depth() > 0
            && directory.state() != DirState::Argument
            && self
                .search
                .filters
                .pass(directory.name(), directory.attributes());
        if !is_wanted {
            return ControlFlow::Continue(());
        }
        let (path, attributes) = (directory.path(), directory.attributes());
        let search = &self.search;
        self.stream.add(self.part, |out| {
            out.row(&path, |bytes| search.write(&path, attributes, bytes));
        })
    }

    fn batch(&mut self, directory: &Directory<'_>, batch: &Batch) -> ControlFlow<()> {
        let search = &self.search;
        // Built when the first entry passes; most directories need none.
        let mut path: Option<(Vec<u8>, usize)> = None;
        self.stream.add(self.part, |out| {
            for entry in batch.iter() {
                if !search.filters.pass(entry.name, &entry.attributes) {
                    continue;
                }
                let (path, stem) = path.get_or_insert_with(|| {
                    let path = directory.entry_path(b"");
                    let stem = path.len();
                    (path, stem)
                });
                path.truncate(*stem);
                path.extend_from_slice(entry.name);
                out.row(path, |bytes| search.write(path, &entry.attributes, bytes));
            }
        })
    }
}

/// Lets nothing lie too long that was found.
struct Flusher<'a> {
    stream: &'a Arc<Stream>,
    is_at_work: bool,
}

impl<'a> Flusher<'a> {
    fn new(stream: &'a Arc<Stream>) -> Flusher<'a> {
        Flusher {
            stream,
            is_at_work: false,
        }
    }
}

impl Companion for Flusher<'_> {
    fn tick(&mut self) {
        self.is_at_work = self.is_at_work || self.stream.flush_old();
    }

    fn ending(&mut self) {
        self.stream.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_words_is_the_pattern() {
        let check = |line: &str, has_glob, paths: &[&str], pattern: Option<&str>| {
            let words = line.split_whitespace().map(OsString::from).collect();
            let (found, found_pattern) = paths_and_pattern(words, has_glob);
            let paths: Vec<OsString> = paths.iter().map(OsString::from).collect();
            assert_eq!(
                (found, found_pattern.as_deref()),
                (paths, pattern),
                "{line}"
            );
        };
        check("", false, &[], None);
        check("src", false, &["src"], None);
        check(". core", false, &["."], Some("core"));
        check("a b core", false, &["a", "b"], Some("core"));
        check("/usr /etc", false, &["/usr", "/etc"], None);
        check("a b", true, &["a", "b"], None);
    }
}
