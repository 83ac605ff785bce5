// SPDX-License-Identifier: MIT OR Apache-2.0

//! The Python module of statwalk. `python/statwalk` has its types and its names.
//!
//! It turns values of [`statwalk_stream`] into those of Python and decides nothing.

mod arguments;
mod entry;
mod errors;
mod listing;
mod running;
mod scan;
mod summaries;
mod table;

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use statwalk_format::bytes_of_text;
use statwalk_stream::arrow;

#[pymodule]
fn _statwalk(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("_BITS", bits(module.py())?)?;
    module.add("_COLUMNS", columns(module.py())?)?;
    module.add(
        "IncompleteScan",
        module.py().get_type::<errors::IncompleteScan>(),
    )?;
    module.add_class::<arguments::Options>()?;
    module.add_class::<entry::Entry>()?;
    module.add_class::<entry::Stat>()?;
    module.add_class::<errors::Report>()?;
    module.add_class::<scan::Scan>()?;
    module.add_class::<table::Batch>()?;
    module.add_class::<table::Batches>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<listing::Listing>()?;
    module.add_function(wrap_pyfunction!(unescape, module)?)?;
    module.add_function(wrap_pyfunction!(summaries::usage, module)?)?;
    module.add_function(wrap_pyfunction!(summaries::largest, module)?)?;
    module.add_function(wrap_pyfunction!(summaries::groups, module)?)
}

/// The bits of each field by its name, of each attribute by its own, and of all that
/// `os.stat_result` has.
fn bits(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let bits = PyDict::new(py);
    let of_tables = ["path_raw", "name_raw", "dir", "child"];
    for (word, of) in columns(py)? {
        let word: String = word.extract()?;
        if !of_tables.contains(&&*word) && word != "stat" {
            bits.set_item(word, of)?;
        }
    }
    bits.set_item("stat", arrow::STAT.bits())?;
    Ok(bits)
}

/// The bits that each word for columns of a table asks for.
fn columns(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for word in arrow::words() {
        columns.set_item(word, arrow::bits_of(&[word]).unwrap_or(0))?;
    }
    Ok(columns)
}

/// The bytes of a path or a name in a table, from its text: `\xNN` is a byte that is no text.
#[pyfunction]
fn unescape(text: &str) -> Cow<'_, [u8]> {
    bytes_of_text(text)
}
