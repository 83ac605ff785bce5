// SPDX-License-Identifier: MIT OR Apache-2.0

//! Batches and tables, by the PyCapsule interface of Arrow.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyTuple};
use statwalk_stream::arrow::{self, AtIncomplete, Cell, RecordBatch, TableType};
use statwalk_stream::{Failure, Step, Tables};

use crate::arguments::{Options, Roots};
use crate::errors::{IncompleteScan, Report, of_failure};
use crate::running::{Item, OnError, Running, Steps, lock};

/// The batches of a scan: an iterator of `Batch`, and a stream of Arrow.
#[pyclass(frozen, module = "statwalk")]
pub(crate) struct Batches {
    running: Running<Tables>,
    table_type: TableType,
    /// Batches that an exception has overtaken on their way into a table.
    kept: Mutex<VecDeque<RecordBatch>>,
}

impl Steps for Tables {
    type Value = statwalk_stream::Table;

    fn next_within(&mut self, timeout: Duration) -> Result<Step<statwalk_stream::Table>, Failure> {
        Tables::next_within(self, timeout)
    }

    fn finish(self) -> Result<statwalk_core::Report, Failure> {
        Tables::finish(self)
    }
}

/// Some entries, or some directories, as an array of Arrow.
#[pyclass(frozen, module = "statwalk")]
pub(crate) struct Batch {
    batch: RecordBatch,
    table_type: TableType,
}

/// All entries of a tree, as a table of Arrow.
#[pyclass(frozen, module = "statwalk")]
pub(crate) struct Table {
    tables: Vec<RecordBatch>,
    table_type: TableType,
    report: Option<Report>,
}

#[pymethods]
impl Batches {
    #[new]
    fn new(
        py: Python<'_>,
        roots: Roots,
        is_text: bool,
        options: Options,
        words: Vec<String>,
        onerror: Bound<'_, PyAny>,
    ) -> PyResult<Batches> {
        let on_error = OnError::of(&onerror, false)?;
        let request = roots.request(py, is_text, &options)?;
        let tables = py.detach(|| Tables::new(&request)).map_err(of_failure)?;
        Ok(Batches {
            running: Running::new(tables.without_prefixes(), is_text, on_error, onerror),
            table_type: TableType::of_words(&request, &words),
            kept: Mutex::default(),
        })
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let batch = self.next_batch(py)?;
        Ok(batch.map(|batch| Batch {
            batch,
            table_type: self.table_type.clone(),
        }))
    }

    /// Takes all that is left, as a table.
    ///
    /// After an exception, such as that of Ctrl-C, nothing is lost: all of it is left.
    fn read_all(&self, py: Python<'_>) -> PyResult<Table> {
        let mut tables = Vec::new();
        loop {
            match self.next_batch(py) {
                Ok(Some(batch)) => tables.push(batch),
                Ok(None) => break,
                Err(error) if error.is_instance_of::<IncompleteScan>(py) => return Err(error),
                Err(error) => {
                    let mut kept = lock(&self.kept);
                    tables.into_iter().rev().for_each(|of| kept.push_front(of));
                    return Err(error);
                }
            }
        }
        Ok(Table {
            tables,
            table_type: self.table_type.clone(),
            report: self.running.report(),
        })
    }

    fn __aiter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("statwalk._asynchronous")?;
        module.call_method1("items", (slf,))
    }

    /// The next batch; none at the end.
    fn _take(&self, py: Python<'_>, count: usize) -> PyResult<Vec<Batch>> {
        // A batch has many entries already.
        let _ = count;
        Ok(self.__next__(py)?.into_iter().collect())
    }

    /// Gives the batches that are left to one consumer, as they come.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer give the type that it has.
        let _ = requested_schema;
        if self.running.calls_back() {
            return Err(PyValueError::new_err(
                "a stream of Arrow cannot call onerror: loop over the batches, or read_all()",
            ));
        }
        if !lock(&self.kept).is_empty() {
            return Err(PyValueError::new_err(
                "an exception has interrupted read_all(): call it again, or loop over the batches",
            ));
        }
        let Some(tables) = self.running.take()? else {
            return Err(PyValueError::new_err("the batches were taken already"));
        };
        let rest = arrow::stream_of_rest(tables, &self.table_type, AtIncomplete::Fail);
        PyCapsule::new_with_value(py, rest, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.table_type)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.running.close(py)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(
        &self,
        py: Python<'_>,
        _exception: &Bound<'_, pyo3::types::PyTuple>,
    ) -> PyResult<()> {
        self.running.close(py)
    }

    /// The report; None before the end.
    #[getter]
    fn report(&self) -> Option<Report> {
        self.running.report()
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "batches cannot be pickled, because their threads are here: pickle a table",
        ))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.running.traverse(&visit)
    }

    fn __clear__(&self) {
        self.running.clear();
    }
}

impl Batches {
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        if let Some(batch) = lock(&self.kept).pop_front() {
            return Ok(Some(batch));
        }
        loop {
            match self.running.next(py)? {
                Item::Value(table) if table.columns().is_empty() => {}
                Item::Value(table) => return Ok(Some(self.table_type.table(table))),
                Item::Error(_) | Item::End => return Ok(None),
            }
        }
    }
}

#[pymethods]
impl Batch {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The interface lets a producer give the type that it has.
        let _ = requested_schema;
        let array = arrow::array(self.batch.clone());
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        Ok((schema_capsule(py, &self.table_type)?, array))
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickle<'py>> {
        let of = slf.get();
        let bytes = pickled(slf.py(), &of.table_type, std::slice::from_ref(&of.batch))?;
        Ok((slf.get_type().getattr("_restore")?, (bytes, None)))
    }

    #[staticmethod]
    fn _restore(bytes: &[u8], _report: Option<Report>) -> PyResult<Batch> {
        let (table_type, mut tables) = restored(bytes)?;
        let batch = tables.pop();
        let batch = batch.ok_or_else(|| PyValueError::new_err("this is no pickled batch"))?;
        Ok(Batch { batch, table_type })
    }

    fn __repr__(&self) -> String {
        format!("<Batch of {} entries>", self.batch.num_rows())
    }
}

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = arrow::stream_of(&self.table_type, &self.tables);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.table_type)
    }

    /// The report of the scan.
    #[getter]
    fn report(&self) -> Option<Report> {
        self.report.clone()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickle<'py>> {
        let of = slf.get();
        let bytes = pickled(slf.py(), &of.table_type, &of.tables)?;
        Ok((
            slf.get_type().getattr("_restore")?,
            (bytes, of.report.clone()),
        ))
    }

    #[staticmethod]
    fn _restore(bytes: &[u8], report: Option<Report>) -> PyResult<Table> {
        let (table_type, tables) = restored(bytes)?;
        Ok(Table {
            tables,
            table_type,
            report,
        })
    }

    fn __len__(&self) -> usize {
        self.tables.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.table_type.names().collect()
    }

    /// Some rows from one on, as tuples. Times are nanoseconds since 1970.
    fn _rows<'py>(
        &self,
        py: Python<'py>,
        begin: usize,
        count: usize,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let all = self.tables.iter();
        let rows = all.flat_map(|table| (0..table.num_rows()).map(move |row| (table, row)));
        let chosen = rows.skip(begin).take(count);
        chosen.map(|(table, row)| tuple(py, table, row)).collect()
    }

    /// One row after another, as a dict. Times are nanoseconds since 1970.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        of_python(slf, "dicts")
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        of_python(slf, "preview")
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        of_python(slf, "preview_html")
    }
}

fn tuple<'py>(py: Python<'py>, table: &RecordBatch, row: usize) -> PyResult<Bound<'py, PyTuple>> {
    let cells = (0..table.num_columns()).map(|column| match Cell::of(table, column, row) {
        Cell::Text(text) => text.into_bound_py_any(py),
        Cell::Bytes(bytes) => Ok(PyBytes::new(py, bytes).into_any()),
        Cell::Number(number) => number.into_bound_py_any(py),
        Cell::TimeNs(ns) => ns.into_bound_py_any(py),
        _ => Ok(py.None().into_bound(py)),
    });
    PyTuple::new(py, cells.collect::<PyResult<Vec<_>>>()?)
}

/// Calls a function of `_tables.py` with a table.
fn of_python<'py>(table: &Bound<'py, Table>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    let module = table.py().import("statwalk._tables")?;
    module.call_method1(function, (table,))
}

/// As `__reduce__` gives it: a function, and its arguments.
type Pickle<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Option<Report>));

fn pickled<'py>(
    py: Python<'py>,
    table_type: &TableType,
    tables: &[RecordBatch],
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| arrow::to_bytes(table_type, tables));
    let bytes = bytes.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &bytes))
}

fn restored(bytes: &[u8]) -> PyResult<(TableType, Vec<RecordBatch>)> {
    arrow::from_bytes(bytes)
        .map_err(|error| PyValueError::new_err(format!("this is no pickled table: {error}")))
}

fn schema_capsule<'py>(py: Python<'py>, table_type: &TableType) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, table_type.schema(), c"arrow_schema")
}
