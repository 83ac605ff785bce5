// SPDX-License-Identifier: MIT OR Apache-2.0

//! Batches and tables, by the PyCapsule interface of Arrow.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use statwalk_stream::arrow::{self, AtIncomplete, RecordBatch, TableType};
use statwalk_stream::{Gaps, Step, Tables};

use crate::arguments::{Options, Roots};
use crate::errors::{KEPT_MAX, Report, incomplete, of_entry, of_failure};
use crate::waiting;

/// The batches of a scan: an iterator of `Batch`, and a stream of Arrow.
#[pyclass(module = "statwalk")]
pub(crate) struct Batches {
    /// Absent after the end.
    stream: Option<Tables>,
    table_type: TableType,
    errors: Vec<Py<PyAny>>,
    on_error: Option<Py<PyAny>>,
    report: Option<Report>,
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
    fn new(roots: Roots, options: Options, onerror: Option<Py<PyAny>>) -> PyResult<Batches> {
        let request = roots.request(&options)?;
        let tables = Tables::new(&request).map_err(of_failure)?;
        Ok(Batches {
            stream: Some(tables.without_prefixes()),
            table_type: TableType::of(&request),
            errors: Vec::new(),
            on_error: onerror,
            report: None,
        })
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let batch = self.next_batch(py)?;
        Ok(batch.map(|batch| Batch {
            batch,
            table_type: self.table_type.clone(),
        }))
    }

    /// Takes all that is left, as a table.
    fn read_all(&mut self, py: Python<'_>) -> PyResult<Table> {
        let mut tables = Vec::new();
        while let Some(batch) = self.next_batch(py)? {
            tables.push(batch);
        }
        Ok(Table {
            tables,
            table_type: self.table_type.clone(),
            report: self.report.clone(),
        })
    }

    /// Gives the batches that are left to one consumer, as they come.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &mut self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer give the type that it has.
        let _ = requested_schema;
        if self.on_error.is_some() {
            return Err(PyValueError::new_err(
                "a stream of Arrow cannot call onerror: loop over the batches, or read_all()",
            ));
        }
        let Some(stream) = self.stream.take() else {
            return Err(PyValueError::new_err("the batches were taken already"));
        };
        let rest = arrow::stream_of_rest(stream, &self.table_type, AtIncomplete::Fail);
        PyCapsule::new_with_value(py, rest, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.table_type)
    }

    fn close(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(stream) = self.stream.take() else {
            return Ok(());
        };
        let report = py.detach(|| stream.finish()).map_err(of_failure)?;
        self.report = Some(Report::new(Gaps::of(&report)));
        Ok(())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(
        &mut self,
        py: Python<'_>,
        _exception: &Bound<'_, pyo3::types::PyTuple>,
    ) -> PyResult<()> {
        self.close(py)
    }

    /// The report; None before the end.
    #[getter]
    fn report(&self) -> Option<Report> {
        self.report.clone()
    }
}

impl Batches {
    fn next_batch(&mut self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        loop {
            let Some(stream) = &mut self.stream else {
                return Ok(None);
            };
            match waiting::next(py, stream, Tables::next_within)? {
                Step::Value(table) if table.columns().is_empty() => {}
                Step::Value(table) => return Ok(Some(self.table_type.table(table))),
                Step::Error(error) => {
                    let error = of_entry(py, &error)?;
                    match &self.on_error {
                        Some(call) => {
                            call.call1(py, (error,))?;
                        }
                        None if self.errors.len() < KEPT_MAX => self.errors.push(error),
                        None => {}
                    }
                }
                Step::Waiting => {}
                Step::End => {
                    self.close(py)?;
                    let errors = std::mem::take(&mut self.errors);
                    let report = self.report.as_ref().filter(|report| !report.is_complete());
                    if let (Some(report), None) = (report, &self.on_error) {
                        return Err(incomplete(py, report, &errors));
                    }
                }
            }
        }
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            Python::attach(|py| py.detach(|| drop(stream)));
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

    fn __len__(&self) -> usize {
        self.tables.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("<Table of {} entries>", self.__len__())
    }
}

fn schema_capsule<'py>(py: Python<'py>, table_type: &TableType) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, table_type.schema(), c"arrow_schema")
}
