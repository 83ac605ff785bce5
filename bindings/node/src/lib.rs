// SPDX-License-Identifier: MIT OR Apache-2.0

//! The native part of the Node package: tables of a scan as typed arrays, and sums.
//!
//! `scan.js` makes entries of them. A thread of libuv waits for each table and makes its
//! columns, so the event loop does neither. A table is taken when JavaScript asks for one,
//! and the scan waits for that: this bounds the memory.

mod owned;
mod sum;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use napi::bindgen_prelude::{
    AsyncTask, BigInt64Array, BigUint64Array, Buffer, Either4, Error, Float64Array, Int32Array,
    Result, Task, Uint8Array, Uint16Array, Uint32Array,
};
use napi::{Env, Status};
use napi_derive::napi;
use statwalk_core::{
    Bits, Canceller, Cause, Column, Columns as CoreColumns, EntryError, Errno, Fields, OddTime,
    SkippedDirs, Values,
};
use statwalk_stream::{
    Failure, Gaps, Language, OPTIONS, OptionKind, PATH, Request, Step as Found, Table, Tables,
    in_camel_case,
};

/// How long a thread waits before it looks whether somebody has closed the scan.
const PAUSE: Duration = Duration::from_millis(100);

/// How many bytes of paths of directories a table has.
const PREFIX_BYTES_MAX: usize = 1 << 20;

/// More memory than V8 lets grow before it collects.
const COLLECTED_AFTER: i64 = 100 << 20;

/// The options of a scan.
#[napi(object)]
#[allow(missing_debug_implementations, reason = "buffers have no such form")]
pub struct Options {
    /// The bits of the columns.
    pub columns: u32,
    /// The number of workers.
    pub threads: u32,
    /// How far the threads of the scan stand behind others.
    pub niceness: u32,
    /// How deep the scan goes.
    pub max_depth: Option<u32>,
    /// Above which depth nothing is given.
    pub min_depth: u32,
    /// Whether entries come by path.
    pub sort: bool,
    /// Whether a directory comes after all that is below it.
    pub contents_first: bool,
    /// Whether other file systems are left out.
    pub one_file_system: bool,
    /// Whether links stand for what they lead to.
    pub follow_links: bool,
    /// Whether `/proc` and its like are entered.
    pub kernel_file_systems: bool,
    /// Whether what `.gitignore` files name is left out.
    pub gitignore: bool,
    /// Patterns of paths that are left out.
    pub exclude: Vec<Buffer>,
    /// The directory from which a relative path leads: the working directory can be another
    /// one now than at the caller's call.
    pub relative_to: Option<Buffer>,
}

/// Rows, in columns. Columns that were not asked for are absent.
#[napi(object)]
#[allow(
    missing_docs,
    missing_debug_implementations,
    reason = "index.d.ts says it"
)]
pub struct Columns {
    pub length: u32,
    pub ids: Option<Uint32Array>,
    pub dirs: Uint32Array,
    pub prefixes: Uint32Array,
    pub prefix_bytes: Uint8Array,
    pub prefix_offsets: Uint32Array,
    pub names: Uint8Array,
    pub name_offsets: Int32Array,
    pub paths: Option<Uint8Array>,
    pub path_offsets: Option<Uint32Array>,
    pub is_text: bool,
    pub types: Uint8Array,
    pub is_known: Option<Uint8Array>,
    pub refusals: Option<Vec<Refusal>>,
    pub attributes: Vec<AttributeColumn>,
}

/// A row whose attributes the system has refused.
#[napi(object)]
#[derive(Debug)]
#[allow(missing_docs, reason = "index.d.ts says it")]
pub struct Refusal {
    pub row: u32,
    pub errno: i32,
}

/// The values of an attribute, which `table.js` gives a name of JavaScript.
#[napi(object)]
#[allow(missing_docs, missing_debug_implementations, reason = "as above")]
pub struct AttributeColumn {
    pub name: String,
    pub values: Either4<Uint16Array, Uint32Array, BigUint64Array, BigInt64Array>,
    /// A time as `fs.Stats` has it: seconds and the rest apart, so that little is lost.
    /// JavaScript would make three big integers for each. NaN where it is not known.
    pub ms: Option<Float64Array>,
    pub is_known: Option<Uint8Array>,
}

/// An entry that could not be read.
#[napi(object)]
#[allow(
    missing_docs,
    missing_debug_implementations,
    reason = "index.d.ts says it"
)]
pub struct ErrorItem {
    pub path: Uint8Array,
    pub operation: String,
    pub number: i32,
    /// The reason, where the words of the number are not it.
    pub reason: Option<String>,
}

/// The system's words for an error number: libuv does not know all of them.
#[napi]
#[must_use]
pub fn words_of(number: i32) -> String {
    Errno(number).to_string()
}

/// The gaps of a scan.
#[napi(object)]
#[derive(Debug)]
#[allow(missing_docs, reason = "index.d.ts says it")]
pub struct Report {
    pub is_complete: bool,
    pub is_interrupted: bool,
    pub unreadable: f64,
    pub changed_directories: f64,
    pub vanished: f64,
    pub excluded: f64,
    pub crossings: f64,
}

/// One of three: columns, an error, or the report of a scan that has ended.
#[napi(object)]
#[allow(missing_debug_implementations, reason = "columns have no such form")]
pub struct Step {
    /// Columns of directories or of other entries.
    pub columns: Option<Columns>,
    /// An entry that could not be read.
    pub error: Option<ErrorItem>,
    /// The report, at the end.
    pub report: Option<Report>,
}

/// The bits of a field.
#[napi(object)]
#[derive(Debug)]
#[allow(missing_docs, reason = "index.js reads it")]
pub struct FieldBits {
    pub name: String,
    pub bits: u32,
}

/// The bit of each field by its name, of the path, and the bits of all that `fs.Stats` has.
#[napi]
#[must_use]
pub fn field_bits() -> Vec<FieldBits> {
    let fields = (0..32).filter_map(|bit| Fields::from_bits(1 << bit));
    let named = fields.flat_map(|field| field.names().map(move |name| (name, field.bits())));
    let stat = Fields::STAT.without(Fields::TYPE).bits();
    let others = [("path", PATH), ("stat", stat)];
    let each = named.chain(others).map(|(name, bits)| FieldBits {
        name: name.to_owned(),
        bits,
    });
    each.collect()
}

/// An option: its name, the kind of its values, and of a number the largest and the default.
#[napi(object)]
#[derive(Debug)]
#[allow(missing_docs, reason = "options.js reads it")]
pub struct OptionRule {
    pub name: String,
    pub kind: String,
    pub most: Option<u32>,
    pub default: Option<u32>,
}

/// The options that Node has.
#[napi]
#[must_use]
pub fn option_rules() -> Vec<OptionRule> {
    let rules = OPTIONS.iter().filter_map(|option| {
        let (kind, most, default) = match option.kind {
            OptionKind::Flag => ("flag", None, None),
            OptionKind::Number { most, default } => ("number", Some(most), default),
            OptionKind::Patterns => ("patterns", None, None),
        };
        Some(OptionRule {
            name: option.name(Language::Node)?.to_owned(),
            kind: kind.to_owned(),
            most,
            default,
        })
    });
    rules.collect()
}

/// The words for a pattern that no scan begins with; null for others.
#[napi]
#[must_use]
#[allow(clippy::needless_pass_by_value, reason = "Node gives values")]
pub fn pattern_refused(pattern: Buffer) -> Option<String> {
    statwalk_stream::pattern_refused(&pattern)
}

type Shared = Arc<Mutex<Option<Tables>>>;
/// The numbers of directories that the next table has nothing below of.
type Pruned = Arc<Mutex<Vec<u32>>>;

/// A scan that gives tables.
#[napi]
#[derive(Debug)]
pub struct Stream {
    tables: Shared,
    canceller: Option<Canceller>,
    skipped: Option<SkippedDirs>,
    pruned: Pruned,
}

#[napi]
impl Stream {
    /// Begins a scan of a directory.
    #[napi(constructor)]
    #[allow(clippy::needless_pass_by_value, reason = "Node gives values")]
    pub fn new(root: Buffer, options: Options) -> Result<Stream> {
        let tables = Tables::new(&request(&root, &options)?).map_err(|failure| failed(&failure))?;
        let tables = tables.with_prefix_bytes_max(PREFIX_BYTES_MAX);
        Ok(Stream {
            canceller: tables.canceller().cloned(),
            skipped: tables.skipped().cloned(),
            pruned: Pruned::default(),
            tables: Arc::new(Mutex::new(Some(tables))),
        })
    }

    /// The next table, error or report.
    #[napi(ts_return_type = "Promise<Step>")]
    pub fn next(&self) -> AsyncTask<Next> {
        AsyncTask::new(Next(Arc::clone(&self.tables), Arc::clone(&self.pruned)))
    }

    /// The same, in place of the event loop.
    #[napi]
    #[allow(clippy::needless_pass_by_value, reason = "Node gives values")]
    pub fn next_now(&self, env: Env) -> Result<Step> {
        let mut next = Next(Arc::clone(&self.tables), Arc::clone(&self.pruned));
        let taken = next.compute()?;
        hasten_collection(&taken, env)?;
        owned::step(step(taken), &env)
    }

    /// Leaves out what is below a directory from the next table on. No worker opens a
    /// directory there any more.
    #[napi]
    #[allow(clippy::needless_pass_by_value, reason = "Node gives values")]
    pub fn prune(&self, id: u32, path: Buffer) {
        if let Some(skipped) = &self.skipped {
            skipped.add(0, &path);
        }
        let mut pruned = self.pruned.lock().unwrap_or_else(PoisonError::into_inner);
        pruned.push(id);
    }

    /// Stops the scan, and waits for its threads. The report is absent if it had ended.
    #[napi(ts_return_type = "Promise<Report | null>")]
    pub fn close(&self) -> AsyncTask<Close> {
        if let Some(canceller) = &self.canceller {
            canceller.cancel();
        }
        AsyncTask::new(Close(Arc::clone(&self.tables)))
    }

    /// The same, in place of the event loop.
    #[napi]
    pub fn close_now(&self) -> Result<Option<Report>> {
        if let Some(canceller) = &self.canceller {
            canceller.cancel();
        }
        let gaps = Close(Arc::clone(&self.tables)).compute()?;
        Ok(gaps.map(report))
    }
}

impl Drop for Stream {
    /// The end of a scan can take a second; then that is no work for the collector.
    fn drop(&mut self) {
        if let Some(canceller) = &self.canceller {
            canceller.cancel();
        }
        let tables = Arc::clone(&self.tables);
        // Without a thread the scan ends here.
        let _ = std::thread::Builder::new()
            .name("statwalk-end".to_owned())
            .spawn(move || drop(take(&tables)));
    }
}

fn request(root: &[u8], options: &Options) -> Result<Request> {
    let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
    let mut request = Request::new(path(root));
    request.relative_to = options.relative_to.as_deref().map(path);
    if !request.set_columns(options.columns | Fields::NAME.bits()) {
        return Err(Error::new(Status::InvalidArg, "there is no such column"));
    }
    request.threads = options.threads;
    request.niceness = options.niceness.min(19) as u8;
    request.max_depth = options.max_depth;
    request.min_depth = options.min_depth;
    request.sort = options.sort;
    request.contents_first = options.contents_first;
    request.one_file_system = options.one_file_system;
    request.follow_links = options.follow_links;
    request.kernel_file_systems = options.kernel_file_systems;
    request.gitignore = options.gitignore;
    for pattern in &options.exclude {
        let excluded = request.exclude(pattern);
        excluded.map_err(|error| failed(&Failure::Begin(error)))?;
    }
    Ok(request)
}

fn take(tables: &Shared) -> Option<Tables> {
    let mut tables = tables.lock().unwrap_or_else(PoisonError::into_inner);
    tables.take()
}

fn failed(failure: &Failure) -> Error {
    Error::new(Status::GenericFailure, failure.to_string())
}

/// Waits for a table on a thread of libuv.
#[derive(Debug)]
pub struct Next(Shared, Pruned);

/// The result of [`Next`], before it is one of JavaScript.
#[allow(
    missing_docs,
    missing_debug_implementations,
    reason = "as the fields of `Step`"
)]
pub enum Taken {
    Columns(Box<Columns>),
    Error(EntryError),
    End(Option<Gaps>),
}

impl Task for Next {
    type Output = Taken;
    type JsValue = Step;

    fn compute(&mut self) -> Result<Taken> {
        loop {
            let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(tables) = place.as_mut() else {
                return Ok(Taken::End(None));
            };
            let mut pruned = self.1.lock().unwrap_or_else(PoisonError::into_inner);
            for id in pruned.drain(..) {
                // cursor.js has refused others.
                let _ = tables.prune(id);
            }
            drop(pruned);
            match tables
                .next_within(PAUSE)
                .map_err(|failure| failed(&failure))?
            {
                // Here, because the event loop has no time for so many rows.
                Found::Value(table) if table.columns().is_empty() => {}
                Found::Value(table) => {
                    return Ok(Taken::Columns(Box::new(columns(table)?)));
                }
                Found::Error(error) => return Ok(Taken::Error(error)),
                Found::Waiting => {}
                Found::End => {
                    let gaps = tables.report().map(Gaps::of);
                    *place = None;
                    return Ok(Taken::End(gaps));
                }
            }
        }
    }

    fn resolve(&mut self, env: Env, taken: Taken) -> Result<Step> {
        hasten_collection(&taken, env)?;
        Ok(step(taken))
    }
}

/// Lets V8 look soon for arrays that nobody has any more, where the paths are long.
///
/// It looks by itself when they have 64 MiB more than before. A deep tree has so much in
/// paths again and again, and entries make strings of them.
fn hasten_collection(taken: &Taken, env: Env) -> Result<()> {
    let Taken::Columns(columns) = taken else {
        return Ok(());
    };
    let paths = columns.paths.as_ref().map_or(0, |paths| paths.len());
    if columns.prefix_bytes.len().max(paths) >= PREFIX_BYTES_MAX / 2 {
        env.adjust_external_memory(COLLECTED_AFTER)?;
        env.adjust_external_memory(-COLLECTED_AFTER)?;
    }
    Ok(())
}

fn step(taken: Taken) -> Step {
    let mut step = Step {
        columns: None,
        error: None,
        report: None,
    };
    match taken {
        Taken::Columns(columns) => step.columns = Some(*columns),
        Taken::Error(error) => step.error = Some(error_item(error)),
        Taken::End(gaps) => step.report = gaps.map(report),
    }
    step
}

/// Ends a scan on a thread of libuv.
#[derive(Debug)]
pub struct Close(Shared);

impl Task for Close {
    type Output = Option<Gaps>;
    type JsValue = Option<Report>;

    fn compute(&mut self) -> Result<Option<Gaps>> {
        let Some(tables) = take(&self.0) else {
            return Ok(None);
        };
        let report = tables.finish().map_err(|failure| failed(&failure))?;
        Ok(Some(Gaps::of(&report)))
    }

    fn resolve(&mut self, _: Env, gaps: Option<Gaps>) -> Result<Option<Report>> {
        Ok(gaps.map(report))
    }
}

fn error_item(error: EntryError) -> ErrorItem {
    ErrorItem {
        operation: error.op.name().to_owned(),
        number: error.cause.errno().map_or(0, |errno| errno.0),
        reason: match error.cause {
            Cause::System(_) => None,
            cause => Some(cause.to_string()),
        },
        path: error.path.into(),
    }
}

fn report(gaps: Gaps) -> Report {
    Report {
        is_complete: gaps.is_complete,
        is_interrupted: gaps.is_interrupted,
        // A root that goes away after its check could not be read either.
        unreadable: (gaps.unreadable + gaps.missing_roots) as f64,
        changed_directories: gaps.changed_directories as f64,
        vanished: gaps.vanished as f64,
        excluded: gaps.excluded as f64,
        crossings: gaps.crossings as f64,
    }
}

/// The columns of a table. Times are there as milliseconds, too.
fn columns(table: Table) -> Result<Columns> {
    let bits = |bits: Bits| bits.into_bytes().map(Uint8Array::new);
    let (mut columns, ids, prefixes, paths) = table.into_parts();
    if let Some(ids) = &ids {
        for row in (0..columns.len()).filter(|&row| !columns.has_dir.get(row)) {
            columns.dirs[row] = ids[row];
        }
    }
    let is_text = are_text(
        &prefixes.bytes,
        prefixes.offsets.iter().map(|&at| at as usize),
    ) && are_text(
        &columns.names,
        columns.name_offsets.iter().map(|&at| at as usize),
    );
    let attributes = Column::of(Fields::ALL).into_iter();
    let (paths, path_offsets) = match paths {
        Some(paths) => {
            let offsets = offsets(&paths.offsets)?;
            (Some(paths.bytes.into()), Some(Uint32Array::new(offsets)))
        }
        None => (None, None),
    };
    let refusals = &columns.attributes.refusals;
    let refusals = (!refusals.is_empty()).then(|| {
        let each = refusals.iter().map(|refusal| Refusal {
            row: refusal.row,
            errno: -refusal.errno.0,
        });
        each.collect()
    });
    Ok(Columns {
        // A table has at most 16,384 rows.
        length: columns.kinds.len() as u32,
        ids: ids.map(Uint32Array::new),
        attributes: attributes
            .filter_map(|of| attribute(&mut columns, of))
            .collect(),
        dirs: columns.dirs.into(),
        prefixes: prefixes.of_rows.into(),
        prefix_bytes: prefixes.bytes.into(),
        prefix_offsets: prefixes.offsets.into(),
        names: columns.names.into(),
        name_offsets: columns.name_offsets.into(),
        paths,
        path_offsets,
        is_text,
        types: columns.kinds.into(),
        is_known: bits(columns.is_known),
        refusals,
    })
}

/// Places in the paths of a table. It has 4 MiB of them, or one that can be longer.
fn offsets(of: &[i64]) -> Result<Vec<u32>> {
    let each = of.iter().map(|&at| u32::try_from(at));
    let offsets = each.collect::<std::result::Result<_, _>>();
    offsets.map_err(|_| Error::new(Status::GenericFailure, "a path has more than 4 GiB"))
}

/// Whether each piece of some bytes is UTF-8.
fn are_text(bytes: &[u8], begins: impl IntoIterator<Item = usize>) -> bool {
    let is_char_boundary = |text: &str| begins.into_iter().all(|at| text.is_char_boundary(at));
    std::str::from_utf8(bytes).is_ok_and(is_char_boundary)
}

/// An attribute; absent where it was not asked for.
fn attribute(columns: &mut CoreColumns, column: Column) -> Option<AttributeColumn> {
    let known = columns.known(&column).clone();
    let mut ms = None;
    let values = match columns.take_values(&column) {
        Values::U16(values) if !values.is_empty() => Either4::A(values.into_owned().into()),
        Values::U32(values) if !values.is_empty() => Either4::B(values.into_owned().into()),
        Values::U64(values) if !values.is_empty() => Either4::C(values.into_owned().into()),
        Values::TimeNs(values) if !values.is_empty() => {
            let odd = columns.attributes.odd_times.iter();
            let odd = odd.filter(|odd| odd.time.name() == column.name);
            ms = Some(Float64Array::new(milliseconds(&values, &known, odd)));
            Either4::D(values.into_owned().into())
        }
        _ => return None,
    };
    Some(AttributeColumn {
        name: in_camel_case(column.name),
        values,
        ms,
        is_known: known.into_bytes().map(Uint8Array::new),
    })
}

/// A time of each row; NaN where it is not known.
fn milliseconds<'a>(
    times_ns: &[i64],
    known: &Bits,
    odd: impl Iterator<Item = &'a OddTime>,
) -> Vec<f64> {
    let of = |(row, &ns): (usize, &i64)| match known.get(row) {
        true => {
            let (seconds, rest) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
            seconds as f64 * 1e3 + rest as f64 / 1e6
        }
        false => f64::NAN,
    };
    let mut ms: Vec<f64> = times_ns.iter().enumerate().map(of).collect();
    for odd in odd {
        if let Some(ms) = ms.get_mut(odd.row as usize) {
            *ms = odd.seconds as f64 * 1e3;
        }
    }
    ms
}
