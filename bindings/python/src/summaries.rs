// SPDX-License-Identifier: MIT OR Apache-2.0

//! Answers of one value: sums of directories, the largest entries, groups.
//!
//! They are tuples and lists, of which `python/statwalk/_summaries.py` makes objects.

use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use statwalk_core::{
    Attributes, GroupKey, Grouping, Largest, Node, Sink, Stats, Tally, Top, TreeSink,
};
use statwalk_stream::arrow::type_word;
use statwalk_stream::{Gaps, Summary};

use crate::arguments::{Options, number, request};
use crate::entry::Entry;
use crate::errors::{Report, name, of_entry, of_failure};

/// How long a wait may hide a signal.
const PAUSE: Duration = Duration::from_millis(40);

/// An answer, what the scan could not read, and the first of its errors.
type Answer<T> = (T, Report, Vec<Py<PyAny>>);

/// A directory: its depth and name; allocated and apparent bytes; entries, files and
/// directories; its newest modification in nanoseconds; whether it was read whole.
type Sums = (u32, Py<PyAny>, u128, u128, u64, u64, u64, Option<i64>, bool);

/// A group: its key, a label where the key is none, entries, apparent and allocated bytes.
type Group = (Py<PyAny>, Option<&'static str>, u64, u128, u128);

/// The sums of a directory and of those below it to a depth, each before what is in it.
#[pyfunction]
pub(crate) fn usage(
    py: Python<'_>,
    root: Vec<u8>,
    is_text: bool,
    options: Options,
    depth: &Bound<'_, PyAny>,
) -> PyResult<Answer<Vec<Sums>>> {
    let depth = number("depth", depth)?;
    let (tree, report, errors) = answer(py, (&root, is_text), &options, TreeSink::new())?;
    let mut sums = Vec::new();
    let mut waiting: Vec<_> = tree.root(0).map(|node| (0, node)).into_iter().collect();
    while let Some((level, node)) = waiting.pop() {
        sums.push(sums_of(py, &node, level, is_text)?);
        if level < depth {
            waiting.extend(node.children().map(|child| (level + 1, child)));
        }
    }
    Ok((sums, report, errors))
}

fn sums_of(py: Python<'_>, node: &Node<'_>, level: u32, is_text: bool) -> PyResult<Sums> {
    let absent = || PyRuntimeError::new_err("a directory has no sum");
    Ok((
        level,
        name(py, node.name(), is_text)?.unbind(),
        node.allocated_bytes().ok_or_else(absent)?,
        node.apparent_bytes().ok_or_else(absent)?,
        node.entries(),
        node.file_count(),
        node.dir_count(),
        node.newest_mtime_ns(),
        !node.is_incomplete(),
    ))
}

/// The largest entries that are no directories.
#[pyfunction]
pub(crate) fn largest(
    py: Python<'_>,
    root: Vec<u8>,
    is_text: bool,
    options: Options,
    count: &Bound<'_, PyAny>,
    by: &str,
) -> PyResult<Answer<Vec<Py<Entry>>>> {
    let count = number("count", count)? as usize;
    let by = match by {
        "allocated" => Largest::Allocated,
        "apparent" => Largest::Apparent,
        _ => return Err(PyValueError::new_err("by is 'allocated' or 'apparent'")),
    };
    let (top, report, errors) = answer(py, (&root, is_text), &options, Top::new(count, by))?;
    let entries = top.iter().map(|found| {
        let entry = entry(&found.path, &root, found.attributes, is_text);
        Py::new(py, entry)
    });
    Ok((entries.collect::<PyResult<_>>()?, report, errors))
}

fn entry(path: &[u8], root: &[u8], attributes: Attributes, is_text: bool) -> Entry {
    let slash = path.iter().rposition(|&byte| byte == b'/');
    let (directory, name) = path.split_at(slash.map_or(0, |slash| slash + 1));
    let below = path.strip_prefix(root).unwrap_or(path);
    let names = below.split(|&byte| byte == b'/');
    Entry {
        directory: Arc::from(directory),
        name: Box::from(name),
        attributes,
        wanted: attributes.valid,
        refusal: None,
        is_followed: false,
        is_text,
        depth: names.filter(|name| !name.is_empty()).count() as u32,
    }
}

/// All entries in groups, those with the most bytes first.
#[pyfunction]
pub(crate) fn groups(
    py: Python<'_>,
    root: Vec<u8>,
    is_text: bool,
    options: Options,
    by: &str,
) -> PyResult<Answer<Vec<Group>>> {
    let Some(grouping) = Grouping::of_name(by) else {
        let names = Grouping::ALL.map(|by| format!("'{}'", by.name()));
        let message = format!("by is one of {}", names.join(", "));
        return Err(PyValueError::new_err(message));
    };
    let (mut found, report, errors) = answer(py, (&root, is_text), &options, Stats::new(grouping))?;
    let order = |tally: &Tally| (tally.allocated_bytes, tally.entries);
    found.sort_by_cached_key(|group| (std::cmp::Reverse(order(&group.tally)), group.keys.clone()));
    let groups = found.iter().map(|group| {
        let (key, label) = group_key(py, group.keys.first())?;
        let Tally {
            entries,
            apparent_bytes,
            allocated_bytes,
            ..
        } = group.tally;
        Ok((key, label, entries, apparent_bytes, allocated_bytes))
    });
    Ok((groups.collect::<PyResult<_>>()?, report, errors))
}

/// The key as a value of Python, and the label of a category.
fn group_key(
    py: Python<'_>,
    key: Option<&GroupKey>,
) -> PyResult<(Py<PyAny>, Option<&'static str>)> {
    let number = |number: u128| Ok(number.into_pyobject(py)?.into_any().unbind());
    let text = |text: &str| Ok::<_, PyErr>(text.into_pyobject(py)?.into_any().unbind());
    let key = match key {
        Some(GroupKey::Kind(kind)) => text(type_word(*kind)),
        Some(GroupKey::Extension(extension)) => {
            let dotted = match &extension.to_vec()[..] {
                [] => Vec::new(),
                extension => [b".", extension].concat(),
            };
            Ok(name(py, &dotted, true)?.unbind())
        }
        Some(GroupKey::Category(category)) => {
            return Ok((text(category.name())?, Some(category.label())));
        }
        Some(&(GroupKey::Owner(id) | GroupKey::Group(id) | GroupKey::Depth(id))) => {
            number(id.into())
        }
        Some(GroupKey::ModifiedWithin(None)) => number(0),
        Some(&GroupKey::ModifiedWithin(Some(u64::MAX))) => {
            Ok(f64::INFINITY.into_pyobject(py)?.into_any().unbind())
        }
        Some(&GroupKey::ModifiedWithin(Some(limit_s))) => number(limit_s.into()),
        Some(&GroupKey::SizeBelowPower(power)) => number(1 << power),
        _ => Ok(py.None()),
    };
    key.map(|key| (key, None))
}

/// Runs a scan, and looks for Ctrl-C meanwhile. Other threads of Python run.
fn answer<S>(
    py: Python<'_>,
    (root, is_text): (&[u8], bool),
    options: &Options,
    sink: S,
) -> PyResult<Answer<S::Output>>
where
    S: Sink + Send + Sync,
    S::Output: Send,
{
    let request = request(py, root, is_text, options)?;
    let begun = py.detach(|| Summary::new(&request, sink));
    let summary = begun.map_err(of_failure)?;
    while !py.detach(|| summary.wait_for(PAUSE)).map_err(of_failure)? {
        py.check_signals()?;
    }
    let outcome = py.detach(|| summary.finish()).map_err(of_failure)?;
    let report = Report::new(Gaps::of(&outcome.report));
    let errors = outcome.report.errors.iter();
    let errors = errors.map(|error| of_entry(py, error, is_text));
    Ok((outcome.output, report, errors.collect::<PyResult<_>>()?))
}
