// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk find`: entries whose names match, as fd lists them.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use statwalk_core::{
    Attributes, Batch, Collect, Context, Directory, Fields, Fill, Found, Gathered, Next, Origin,
    Progress, Sink, path_order,
};
use statwalk_view::escape;

use crate::answer::about::About;
use crate::answer::owner_names::KnownOwners;
use crate::answer::record::Record;
use crate::commands::delivery::{conclude, form_of};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{FindFlags, shown_word};
use crate::output::ending::Errors;
use crate::output::found_fields::FoundFields;
use crate::output::interruptible::InterruptibleStdout;
use crate::output::json;
use crate::request::filters::Filters;
use crate::request::name_pattern;
use crate::request::{Form, Request, safe};
use crate::stored::{Reading, StoredScan};
use crate::system::screen;
use crate::system::stdio::say;
use crate::watch::Lookout;
use crate::watch::progress::ProgressOptions;

/// From so many bytes on a worker gives its rows away, and they are written.
const ROWS_BYTES: usize = 64 << 10;
/// Few paths are longer: PATH_MAX, include/uapi/linux/limits.h.
const PATH_BYTES: usize = 4096;
/// A list that takes longer is not sorted, and its rows are not kept back.
const SHORT: Duration = Duration::from_millis(100);
/// How long rows lie at most when the list is not short.
const PERIOD: Duration = Duration::from_millis(40);

pub(super) fn run(flags: FindFlags) -> Result<ExitStatus, Failure> {
    refuse_ignored(&flags)?;
    let one_file_system = flags.scan.walk.read.one_file_system;
    let (mut paths, pattern) = paths_and_pattern(flags.words, !flags.filters.glob.is_empty());
    let mut patterns = Vec::new();
    if let ([word], None, true) = (&paths[..], &pattern, flags.filters.glob.is_empty())
        && is_glob(word)
    {
        patterns.push(name_pattern::glob(&word.to_string_lossy())?);
        paths.clear();
    }
    if let Some(pattern) = &pattern {
        refuse_fd_order(&paths, pattern)?;
    }
    let one_word = match (&paths[..], &pattern) {
        // A word with a slash is a path in every place.
        ([word], None) if is_pattern(word.as_os_str()) => Some(word.clone()),
        _ => None,
    };
    if let Some(pattern) = pattern {
        patterns.push(name_pattern::regex(&pattern)?);
    }
    let mut request = Request::new(&flags.scan, paths, form_of(&flags.scan.walk.form))?;
    let mut filters = Filters::new(&flags.filters, request.stored())?;
    for pattern in patterns {
        filters.push_pattern(pattern);
    }
    request.prepare_for_a_stream(screen::stdout_is_file());
    request.limit_depth(flags.max_depth);
    let is_short = Arc::new(AtomicBool::new(true));
    let search = Search {
        passes_all: filters.is_empty(),
        filters,
        shown: FoundFields::new(&flags.fields),
        form: request.form,
        is_short: Arc::clone(&is_short),
        has_limit: flags.lines.is_some(),
        stored: request
            .stored
            .as_ref()
            .map(|(stored, _)| Arc::clone(stored)),
    };
    let mut lookout = Lookout::new(ProgressOptions::new(&request, None));
    let mut fields = search.filters.fields() | search.shown.wanted();
    // Without types a scan finds the directories with fewer stats where the listing has
    // none, but not those that are too deep to be entered.
    let is_cut = flags.max_depth.is_some() && search.filters.only_directories();
    if is_cut || matches!(search.form, Form::Json(_)) {
        fields |= Fields::TYPE;
    }
    let mut printer = Printer::new(flags.lines, is_short);
    let record = match &request.stored {
        Some((stored, reading)) => {
            let found = stored_rows(stored, reading, fields, search, &mut printer, &mut lookout);
            lookout.end();
            found?;
            Record::Stored(Box::new(stored.findings(reading)?))
        }
        None => {
            let mut found = (request.scan).gather(fields, move |rows: &mut Rows, found| {
                search.add(rows, found);
                rows.fill()
            })?;
            let printed = print_all(&mut found, &mut printer, &mut lookout);
            lookout.end();
            printed?;
            Record::Scan(Box::new(found.finish()))
        }
    };
    let about = About::of_scan(&request, record, &[]);
    printer.finish()?;
    let status = conclude(&request, &about, Errors::Untold);
    if let Some(word) = one_word.filter(|_| status == ExitStatus::Failed) {
        // fd's -x has a program behind it.
        let program = match one_file_system {
            true => format!(
                "; -x is --one-file-system. To run a program: \
                 statwalk find -0 -t f | xargs -0 {}",
                shown_word(&word)
            ),
            false => String::new(),
        };
        say(&format!(
            "'{}' is taken as a path. To search the current directory: \
             statwalk find {}{program}",
            safe(&word.to_string_lossy()),
            operands([OsStr::new("."), &word])
        ));
    }
    Ok(status)
}

/// Refuses flags that would change nothing: a user who gives one wants something.
fn refuse_ignored(flags: &FindFlags) -> Result<(), Failure> {
    let message = if flags.scan.links.count_links {
        "--count-links counts bytes, and find lists every name anyway: for details of each \
         entry use --fields"
    } else if flags.scan.walk.form.width.is_some() {
        "--width needs a table, and find prints a list: for names that are safe on a terminal \
         use --table"
    } else {
        return Ok(());
    };
    Err(Failure::Usage(message.to_owned()))
}

/// Prints rows as they come, until no more come or are wanted.
fn print_all(
    found: &mut Gathered<Rows>,
    printer: &mut Printer,
    lookout: &mut Lookout,
) -> Result<(), Failure> {
    loop {
        match found.next_within(printer.patience()) {
            Next::Value(rows) => printer.take(rows)?,
            Next::Waiting => printer.write_old()?,
            Next::End => return Ok(()),
            // The report has errors.
            _ => {}
        }
        if printer.has_enough() {
            return Ok(());
        }
        let progress = || found.progress().unwrap_or_default();
        if lookout.look_now_and_then(progress).is_break() {
            found.cancel();
        }
    }
}

/// Prints rows of a stored scan, until no more come or are wanted.
fn stored_rows(
    stored: &StoredScan,
    reading: &Reading,
    fields: Fields,
    search: Search,
    printer: &mut Printer,
    lookout: &mut Lookout,
) -> Result<(), Failure> {
    let full = Arc::new(Mutex::new(Vec::new()));
    let sink = StoredSearch {
        fields,
        search: Arc::new(search),
        full: Arc::clone(&full),
    };
    let mut printed = Ok(());
    let rest = stored.replay(sink, reading, &mut |entries| {
        let rows = std::mem::take(&mut *full.lock().unwrap_or_else(PoisonError::into_inner));
        for rows in rows {
            if printed.is_ok() && !printer.has_enough() {
                printed = printer.take(rows);
            }
        }
        if printed.is_err() || printer.has_enough() {
            return ControlFlow::Break(());
        }
        lookout.look_now_and_then(|| {
            let mut progress = Progress::default();
            progress.entries = entries;
            progress
        })
    })?;
    printed?;
    for rows in rest {
        if !printer.has_enough() {
            printer.take(rows)?;
        }
    }
    Ok(())
}

/// A search as a sink, for the rows of a stored scan.
struct StoredSearch {
    fields: Fields,
    search: Arc<Search>,
    /// Rows that can be printed.
    full: Arc<Mutex<Vec<Rows>>>,
}

struct StoredSearchState {
    search: Arc<Search>,
    full: Arc<Mutex<Vec<Rows>>>,
    rows: Rows,
}

impl Sink for StoredSearch {
    type State = StoredSearchState;
    type Output = Vec<Rows>;

    fn fields(&self) -> Fields {
        self.fields
    }

    fn states(&self, _: &Context, count: usize) -> Vec<StoredSearchState> {
        let state = || StoredSearchState {
            search: Arc::clone(&self.search),
            full: Arc::clone(&self.full),
            rows: Rows::default(),
        };
        std::iter::repeat_with(state).take(count).collect()
    }

    fn merge(&self, _: &Context, states: Vec<StoredSearchState>) -> Vec<Rows> {
        let full = std::mem::take(&mut *self.full.lock().unwrap_or_else(PoisonError::into_inner));
        let rest = states.into_iter().map(|state| state.rows);
        full.into_iter().chain(rest).collect()
    }
}

impl StoredSearchState {
    fn add(&mut self, found: Found<'_>) -> ControlFlow<()> {
        self.search.add(&mut self.rows, found);
        if self.rows.fill() == Fill::Full {
            let rows = std::mem::take(&mut self.rows);
            let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
            full.push(rows);
        }
        ControlFlow::Continue(())
    }
}

impl Collect for StoredSearchState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        self.add(Found::Directory(directory))
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        self.add(Found::Entries(origin, batch))
    }
}

/// Tells what of the words is searched, and what for.
fn paths_and_pattern(mut words: Vec<OsString>, has_glob: bool) -> (Vec<OsString>, Option<String>) {
    let mut pattern = None;
    let last = words.last();
    if words.len() > 1 && !has_glob && last.is_some_and(|word| is_pattern(word)) {
        // What is no UTF-8 cannot be a pattern, and no name as such matches it.
        pattern = words.pop().map(|word| word.to_string_lossy().into_owned());
    }
    (words, pattern)
}

/// Whether a word is a pattern of the shell for names, and not the name of an entry.
fn is_glob(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    let has_sign = bytes.iter().any(|byte| b"*?[".contains(byte));
    has_sign && is_pattern(word) && is_missing(word)
}

fn is_missing(word: &OsStr) -> bool {
    let found = Path::new(word).symlink_metadata();
    found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Refuses a pattern before the paths, as fd has it: `find gz .` would search a path `gz`
/// for any name with a letter.
fn refuse_fd_order(paths: &[OsString], pattern: &str) -> Result<(), Failure> {
    let Some((first, others)) = paths.split_first() else {
        return Ok(());
    };
    let is_swapped = is_pattern(first)
        && is_missing(first)
        && !is_missing(OsStr::new(pattern))
        && !others.iter().any(|word| is_missing(word));
    if !is_swapped {
        return Ok(());
    }
    let paths = others.iter().map(OsString::as_os_str);
    let paths = paths.chain([OsStr::new(pattern)]);
    let remedy = match is_glob(first) {
        true => {
            // As the value of `-g` such a word would be a flag.
            let flag = match is_like_a_flag(first) {
                true => "--glob=",
                false => "-g ",
            };
            format!(
                "statwalk find {flag}{} {}",
                shown_word(first),
                operands(paths)
            )
        }
        false => format!(
            "statwalk find {}",
            operands(paths.chain([first.as_os_str()]))
        ),
    };
    let first = safe(&first.to_string_lossy());
    Err(Failure::Usage(format!(
        "cannot open {first}: no such file or directory; paths come before the pattern: try \
         {remedy}"
    )))
}

/// Words as the user must write them: behind `--` where one would be taken for a flag.
fn operands<'a>(words: impl IntoIterator<Item = &'a OsStr>) -> String {
    let mut shown = Vec::new();
    let mut has_flag = false;
    for word in words {
        has_flag |= is_like_a_flag(word);
        shown.push(shown_word(word));
    }
    if has_flag {
        shown.insert(0, "--".to_owned());
    }
    shown.join(" ")
}

fn is_like_a_flag(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

/// Whether a word can be a pattern: no name holds a slash.
fn is_pattern(word: &OsStr) -> bool {
    !word.as_encoded_bytes().contains(&b'/')
}

/// The wanted entries, and the form of their rows.
struct Search {
    filters: Filters,
    /// Whether every entry passes them.
    passes_all: bool,
    shown: FoundFields,
    form: Form,
    /// Whether the rows may still be sorted.
    is_short: Arc<AtomicBool>,
    has_limit: bool,
    /// The stored scan that is searched; absent for one of now.
    stored: Option<Arc<StoredScan>>,
}

/// How much is kept of each row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Keeps {
    Rows,
    /// Where it ends, too, so that the list can be cut.
    Ends,
    /// Its path, too, so that the list can be sorted.
    Paths,
}

/// Rows that one worker found.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    /// Where each row ends; empty where nobody needs it.
    ends: Vec<usize>,
    /// The paths, one after another, by which rows are sorted; and where each ends.
    paths: Vec<u8>,
    path_ends: Vec<usize>,
    /// The path of the row that is being made.
    path: Vec<u8>,
}

impl Search {
    fn add(&self, rows: &mut Rows, found: Found<'_>) {
        let keeps = match self.is_short.load(Ordering::Relaxed) {
            true => Keeps::Paths,
            false if self.has_limit => Keeps::Ends,
            false => Keeps::Rows,
        };
        match found {
            Found::Directory(directory) => {
                let (name, attributes) = (directory.name(), directory.attributes());
                if directory.depth() > 0 && self.passes(name, attributes) {
                    let mut path = std::mem::take(&mut rows.path);
                    path.clear();
                    directory.push_path(&mut path);
                    self.add_row(rows, &path, attributes, keeps);
                    rows.path = path;
                }
            }
            Found::Entries(origin, batch) => {
                let mut path = std::mem::take(&mut rows.path);
                if let (Some(end), Keeps::Rows) = (self.plain_end(), keeps) {
                    path.clear();
                    origin.push_entry_path(b"", &mut path);
                    rows.add_paths(&path, batch, end);
                    rows.path = path;
                    return;
                }
                // Built when the first entry passes; most directories need none.
                let mut stem = None;
                for entry in batch.iter() {
                    if !self.passes(entry.name, &entry.attributes) {
                        continue;
                    }
                    let stem = *stem.get_or_insert_with(|| {
                        path.clear();
                        origin.push_entry_path(b"", &mut path);
                        path.len()
                    });
                    path.truncate(stem);
                    path.extend_from_slice(entry.name);
                    self.add_row(rows, &path, &entry.attributes, keeps);
                }
                rows.path = path;
            }
            _ => {}
        }
    }

    fn owners(&self) -> KnownOwners<'_> {
        KnownOwners::of(self.stored.as_deref())
    }

    #[inline]
    fn passes(&self, name: &[u8], attributes: &Attributes) -> bool {
        self.passes_all || self.filters.pass(name, attributes)
    }

    /// The end of each row, where every entry passes and a row is its path alone.
    fn plain_end(&self) -> Option<u8> {
        match self.form {
            Form::Rows(end) if self.passes_all && self.shown.is_empty() => Some(end.byte()),
            _ => None,
        }
    }

    #[inline]
    fn add_row(&self, rows: &mut Rows, path: &[u8], attributes: &Attributes, keeps: Keeps) {
        let out = rows.room();
        match self.form {
            Form::Screen(screen) => {
                self.shown
                    .write_columns(attributes, &self.owners(), Some(screen), out);
                out.extend_from_slice(escape(path, screen.terminal.charset).as_bytes());
                out.push(b'\n');
            }
            Form::Rows(end) => {
                self.shown
                    .write_columns(attributes, &self.owners(), None, out);
                out.extend_from_slice(path);
                out.push(end.byte());
            }
            Form::Json(screen) => {
                let found = self.shown.json(path, attributes, self.owners());
                json::line(&found, screen, out);
            }
        }
        if keeps >= Keeps::Ends {
            rows.ends.push(rows.bytes.len());
        }
        if keeps == Keeps::Paths {
            rows.paths.extend_from_slice(path);
            rows.path_ends.push(rows.paths.len());
        }
    }
}

impl Rows {
    /// The bytes, with room for all rows that are going to be in them.
    #[inline]
    fn room(&mut self) -> &mut Vec<u8> {
        if self.bytes.capacity() == 0 {
            // Once, and not by doubling: the row that fills it has room too.
            self.bytes.reserve(ROWS_BYTES + PATH_BYTES);
        }
        &mut self.bytes
    }

    /// Adds a row for each entry of a batch: the stem, its name, and the end of the row.
    ///
    /// Straight from the columns. To make an entry of each costs more than its row.
    fn add_paths(&mut self, stem: &[u8], batch: &Batch, row_end: u8) {
        let out = self.room();
        out.reserve(batch.names().len() + batch.len() * (stem.len() + 1));
        let ends = batch.name_ends().iter().map(|&end| end as usize);
        for name in slices(batch.names(), ends) {
            out.extend_from_slice(stem);
            out.extend_from_slice(name);
            out.push(row_end);
        }
    }

    fn fill(&self) -> Fill {
        match self.bytes.len() {
            0 => Fill::Nothing,
            1..ROWS_BYTES => Fill::Some,
            _ => Fill::Full,
        }
    }

    /// Lets go of all rows but the first `count`, whose ends are known.
    fn truncate(&mut self, count: usize) {
        let end = count.checked_sub(1).map_or(0, |last| self.ends[last]);
        self.bytes.truncate(end);
        self.ends.truncate(count);
    }

    /// Each row behind its path, where all paths were kept.
    fn with_paths(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let path_ends = self.path_ends.iter().copied();
        let ends = self.ends.iter().copied();
        slices(&self.paths, path_ends).zip(slices(&self.bytes, ends))
    }
}

/// The pieces of `bytes`, by their ends.
fn slices(bytes: &[u8], ends: impl Iterator<Item = usize>) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    ends.map(move |end| {
        let piece = &bytes[start..end];
        start = end;
        piece
    })
}

/// Rows on their way to stdout, which are sorted while they are few.
struct Printer {
    stdout: InterruptibleStdout,
    /// How many rows are still wanted, where there is a limit.
    wanted: Option<u64>,
    /// The workers keep paths while this is set.
    is_short: Arc<AtomicBool>,
    waiting: Vec<Rows>,
    waiting_bytes: usize,
    /// When the list ceases to be short, or what waits is written.
    due: Instant,
}

impl Printer {
    /// With at most so many rows.
    fn new(wanted: Option<u64>, is_short: Arc<AtomicBool>) -> Printer {
        Printer {
            stdout: InterruptibleStdout::new(),
            wanted,
            is_short,
            waiting: Vec::new(),
            waiting_bytes: 0,
            due: Instant::now() + SHORT,
        }
    }

    /// How long the next rows may be awaited.
    fn patience(&self) -> Duration {
        let left = self.due.saturating_duration_since(Instant::now());
        left.clamp(Duration::from_millis(1), PERIOD)
    }

    fn has_enough(&self) -> bool {
        self.wanted == Some(0)
    }

    /// Takes rows, and writes them where there are many.
    fn take(&mut self, mut rows: Rows) -> Result<(), Failure> {
        if let Some(wanted) = &mut self.wanted {
            let count =
                usize::try_from(*wanted).map_or(rows.ends.len(), |it| it.min(rows.ends.len()));
            rows.truncate(count);
            *wanted -= count as u64;
        }
        self.waiting_bytes += rows.bytes.len();
        self.waiting.push(rows);
        match self.waiting_bytes >= ROWS_BYTES {
            true => self.write(),
            false => self.write_old(),
        }
    }

    /// Writes what lies for long.
    fn write_old(&mut self) -> Result<(), Failure> {
        match Instant::now() >= self.due {
            true => self.write(),
            false => Ok(()),
        }
    }

    fn write(&mut self) -> Result<(), Failure> {
        self.is_short.store(false, Ordering::Relaxed);
        for rows in self.waiting.drain(..) {
            self.stdout.write_all(&rows.bytes)?;
        }
        self.waiting_bytes = 0;
        self.due = Instant::now() + PERIOD;
        Ok(())
    }

    /// Writes what is left, sorted if nothing was written before.
    fn finish(mut self) -> Result<(), Failure> {
        if !self.is_short.load(Ordering::Relaxed) {
            return self.write();
        }
        let mut rows: Vec<(&[u8], &[u8])> =
            self.waiting.iter().flat_map(Rows::with_paths).collect();
        rows.sort_unstable_by(|a, b| path_order(a.0, b.0));
        let bytes: Vec<&[u8]> = rows.into_iter().map(|(_, row)| row).collect();
        self.stdout.write_all(&bytes.concat())
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

    fn rows(paths: &[&str]) -> Rows {
        let mut rows = Rows::default();
        for path in paths {
            rows.bytes.extend_from_slice(format!("<{path}>").as_bytes());
            rows.ends.push(rows.bytes.len());
            rows.paths.extend_from_slice(path.as_bytes());
            rows.path_ends.push(rows.paths.len());
        }
        rows
    }

    #[test]
    fn rows_know_their_paths_and_can_be_cut() {
        let mut found = rows(&["b\n", "a", "c"]);
        found.truncate(2);
        let pairs: Vec<_> = found.with_paths().collect();
        assert_eq!(pairs, [(&b"b\n"[..], &b"<b\n>"[..]), (b"a", b"<a>")]);
        found.truncate(0);
        assert!(found.bytes.is_empty() && found.with_paths().next().is_none());
    }

    #[test]
    fn no_more_rows_are_kept_than_are_wanted() {
        let mut printer = Printer::new(Some(3), Arc::new(AtomicBool::new(true)));
        printer.due = Instant::now() + Duration::from_secs(3600);
        printer.take(rows(&["a", "b"])).unwrap();
        assert!(!printer.has_enough());
        printer.take(rows(&["c", "d"])).unwrap();
        assert!(printer.has_enough());
        let kept: usize = printer.waiting.iter().map(|rows| rows.ends.len()).sum();
        assert_eq!((kept, printer.waiting_bytes), (3, 9));
    }
}
