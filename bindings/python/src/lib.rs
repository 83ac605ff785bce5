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

use pyo3::prelude::*;
use pyo3::types::PyDict;
use statwalk_core::Fields;

#[pymodule]
fn _statwalk(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("_BITS", bits(module.py())?)?;
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
    module.add_function(wrap_pyfunction!(summaries::usage, module)?)?;
    module.add_function(wrap_pyfunction!(summaries::largest, module)?)?;
    module.add_function(wrap_pyfunction!(summaries::groups, module)?)
}

/// The bit of each field by its name, of the path, and the bits of all that
/// `os.stat_result` has.
fn bits(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let bits = PyDict::new(py);
    for field in (0..32).filter_map(|bit| Fields::from_bits(1 << bit)) {
        for name in field.names() {
            bits.set_item(name, field.bits())?;
        }
    }
    bits.set_item("path", statwalk_stream::PATH)?;
    bits.set_item("stat", entry::ALL.bits())?;
    Ok(bits)
}
