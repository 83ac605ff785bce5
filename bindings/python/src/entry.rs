// SPDX-License-Identifier: MIT OR Apache-2.0

//! An entry, and its attributes under the names of `os.stat_result`.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use statwalk_core::{Attributes, Errno, Fields, FileId, FileType, Time};
use statwalk_stream::Unknown;
use statwalk_stream::arrow::STAT;

use crate::errors::{name, os_error};

/// An entry with its attributes. Serves where code expects an `os.DirEntry`.
#[pyclass(frozen, generic, module = "statwalk")]
pub(crate) struct Entry {
    /// The path of the directory, with the slash. All entries of it share it.
    pub(crate) directory: Arc<[u8]>,
    pub(crate) name: Box<[u8]>,
    pub(crate) attributes: Attributes,
    /// The fields that were asked for.
    pub(crate) wanted: Fields,
    /// The error for which the system has refused its attributes.
    pub(crate) refusal: Option<Errno>,
    /// Whether a symbolic link was followed to it.
    pub(crate) is_followed: bool,
    pub(crate) is_text: bool,
    /// The distance from the path that was scanned: 1 for what lies in it.
    #[pyo3(get)]
    pub(crate) depth: u32,
}

/// Attributes of an entry. A call of it gives what `os.DirEntry.stat` does.
#[pyclass(frozen, module = "statwalk")]
pub(crate) struct Stat {
    entry: Py<Entry>,
}

impl Entry {
    fn path_bytes(&self) -> Vec<u8> {
        [&self.directory, &self.name[..]].concat()
    }

    /// The type; by a call where neither the listing nor the scan has it.
    fn own_type(&self, py: Python<'_>) -> PyResult<FileType> {
        if self.attributes.kind != FileType::Unknown {
            return Ok(self.attributes.kind);
        }
        let path = self.path_bytes();
        let looked = py.detach(|| std::fs::symlink_metadata(OsStr::from_bytes(&path)));
        match looked {
            Ok(metadata) if metadata.is_dir() => Ok(FileType::Directory),
            Ok(metadata) if metadata.is_file() => Ok(FileType::File),
            Ok(metadata) if metadata.is_symlink() => Ok(FileType::Symlink),
            Ok(_) => Ok(FileType::Unknown),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(FileType::Unknown),
            Err(error) => Err(os_error(py, error.raw_os_error(), &path, self.is_text)),
        }
    }

    /// Whether the entry, or what a link leads to, is of a type.
    fn is(&self, py: Python<'_>, kind: FileType, follow_symlinks: bool) -> PyResult<bool> {
        let own = self.own_type(py)?;
        if own != FileType::Symlink || !follow_symlinks {
            return Ok(own == kind);
        }
        let path = self.path_bytes();
        match py.detach(|| std::fs::metadata(OsStr::from_bytes(&path))) {
            Ok(metadata) if kind == FileType::Directory => Ok(metadata.is_dir()),
            Ok(metadata) => Ok(metadata.is_file()),
            // A link that leads nowhere leads to nothing of the type, as os.DirEntry has it.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(os_error(py, error.raw_os_error(), &path, self.is_text)),
        }
    }
}

#[pymethods]
impl Entry {
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        name(py, &self.name, self.is_text)
    }

    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        name(py, &self.path_bytes(), self.is_text)
    }

    fn __fspath__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.path(py)
    }

    #[pyo3(signature = (*, follow_symlinks = true))]
    fn is_dir(&self, py: Python<'_>, follow_symlinks: bool) -> PyResult<bool> {
        self.is(py, FileType::Directory, follow_symlinks)
    }

    #[pyo3(signature = (*, follow_symlinks = true))]
    fn is_file(&self, py: Python<'_>, follow_symlinks: bool) -> PyResult<bool> {
        self.is(py, FileType::File, follow_symlinks)
    }

    fn is_symlink(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.own_type(py)? == FileType::Symlink)
    }

    /// No entry of Linux is one.
    fn is_junction(&self) -> bool {
        false
    }

    fn inode(slf: &Bound<'_, Self>) -> PyResult<u64> {
        match slf.get().attributes.id() {
            Some(id) => Ok(id.ino() as u64),
            None => stat_by_call(slf, slf.get().is_followed)?
                .getattr("st_ino")?
                .extract(),
        }
    }

    #[getter]
    fn stat(slf: Bound<'_, Self>) -> Stat {
        Stat {
            entry: slf.unbind(),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Entry {}>", self.name(py)?.repr()?))
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (Pickled,))> {
        let restore = slf.get_type().getattr("_restore")?.unbind();
        let of = slf.get();
        let pickled = Pickled {
            directory: of.directory.to_vec(),
            name: of.name.to_vec(),
            flags: (of.is_text, of.is_followed),
            depth: of.depth,
            kind: of.attributes.kind.number(),
            wanted: of.wanted.bits(),
            refusal: of.refusal.map(|errno| errno.0),
            values: values(&of.attributes),
        };
        Ok((restore, (pickled,)))
    }

    #[staticmethod]
    fn _restore(pickled: Pickled) -> PyResult<Entry> {
        let damaged = || PyValueError::new_err("this is no pickled entry");
        let kind = FileType::from_number(pickled.kind).ok_or_else(damaged)?;
        let mut attributes = Attributes::of_type(kind);
        for value in pickled.values {
            attributes = with_value(attributes, value).ok_or_else(damaged)?;
        }
        Ok(Entry {
            directory: Arc::from(pickled.directory),
            name: Box::from(pickled.name),
            attributes,
            wanted: Fields::from_bits(pickled.wanted).ok_or_else(damaged)?,
            refusal: pickled.refusal.map(Errno),
            is_followed: pickled.flags.1,
            is_text: pickled.flags.0,
            depth: pickled.depth,
        })
    }
}

/// An entry as pickle keeps it.
#[derive(FromPyObject, IntoPyObject)]
struct Pickled {
    #[pyo3(item)]
    directory: Vec<u8>,
    #[pyo3(item)]
    name: Vec<u8>,
    #[pyo3(item)]
    flags: (bool, bool),
    #[pyo3(item)]
    depth: u32,
    #[pyo3(item)]
    kind: u8,
    #[pyo3(item)]
    wanted: u32,
    #[pyo3(item)]
    refusal: Option<i32>,
    #[pyo3(item)]
    values: Vec<Value>,
}

/// The bit of a field with its one number or two.
type Value = (u32, i128, i128);

/// The known attributes that `os.stat_result` has, and birth.
fn values(of: &Attributes) -> Vec<Value> {
    let id = of.id();
    let time = |time| {
        let seconds = i128::from(of.time_s(time)?);
        let ns = of
            .time_ns(time)
            .map_or(0, |ns| ns.rem_euclid(1_000_000_000));
        Some((seconds, ns.into()))
    };
    let one = |number: Option<u64>| number.map(|number| (i128::from(number), 0));
    let owner = of.uid().zip(of.gid());
    let all = [
        (Fields::SIZE, one(of.size_bytes())),
        (Fields::ALLOCATED, one(of.allocated_bytes())),
        (Fields::LINKS, one(of.links().map(u64::from))),
        (
            Fields::OWNER,
            owner.map(|(uid, gid)| (uid.into(), gid.into())),
        ),
        (Fields::MODE, one(of.mode().map(u64::from))),
        (Fields::RDEV, one(of.rdev())),
        (Fields::ID, id.map(|id| (id.dev().into(), id.ino() as i128))),
        (Fields::MTIME, time(Time::Modified)),
        (Fields::ATIME, time(Time::Accessed)),
        (Fields::CTIME, time(Time::Changed)),
        (Fields::BTIME, time(Time::Born)),
    ];
    let known = all
        .into_iter()
        .filter_map(|(field, value)| Some((field, value?)));
    known
        .map(|(field, (one, other))| (field.bits(), one, other))
        .collect()
}

/// Adds a value; absent where the number of a pickle does not fit.
fn with_value(attributes: Attributes, (field, one, other): Value) -> Option<Attributes> {
    let field = Fields::from_bits(field)?;
    let time = |time: Time| {
        let seconds = i64::try_from(one).ok()?;
        Some(attributes.with_time(time, seconds, u32::try_from(other).ok()?))
    };
    Some(match field {
        Fields::SIZE => attributes.with_size_bytes(u64::try_from(one).ok()?),
        Fields::ALLOCATED => attributes.with_allocated_bytes(u64::try_from(one).ok()?),
        Fields::LINKS => attributes.with_links(u32::try_from(one).ok()?),
        Fields::OWNER => {
            let (uid, gid) = (u32::try_from(one).ok()?, u32::try_from(other).ok()?);
            attributes.with_owner(uid, gid)
        }
        Fields::MODE => attributes.with_mode(u16::try_from(one).ok()?),
        Fields::RDEV => attributes.with_rdev(u64::try_from(one).ok()?),
        Fields::ID => {
            let (dev, ino) = (u64::try_from(one).ok()?, u64::try_from(other).ok()?);
            attributes.with_id(FileId::new(dev, ino))
        }
        Fields::MTIME => time(Time::Modified)?,
        Fields::ATIME => time(Time::Accessed)?,
        Fields::CTIME => time(Time::Changed)?,
        Fields::BTIME => time(Time::Born)?,
        _ => return None,
    })
}

fn stat_by_call<'py>(entry: &Bound<'py, Entry>, follow: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = entry.py();
    let arguments = PyDict::new(py);
    arguments.set_item("follow_symlinks", follow)?;
    let path = entry.get().path(py)?;
    py.import("os")?
        .call_method("stat", (path,), Some(&arguments))
}

impl Stat {
    fn of(&self) -> &Attributes {
        &self.entry.get().attributes
    }

    /// A field that is known, or an exception that says why it is not; None where the file
    /// system does not have it.
    fn known<'py, T: IntoPyObject<'py>>(
        &self,
        py: Python<'py>,
        value: Option<T>,
        field: Fields,
        name: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(value) = value {
            return value.into_bound_py_any(py);
        }
        let entry = self.entry.bind(py);
        let of = entry.get();
        match Unknown::of(field, of.wanted, of.refusal) {
            Unknown::NotAsked => {
                let field = field.names().next().unwrap_or(name);
                let words = format!("{name} is unknown: the scan was not asked for '{field}'");
                Err(PyAttributeError::new_err(words))
            }
            Unknown::Refused(errno) => {
                Err(os_error(py, Some(errno.0), &of.path_bytes(), of.is_text))
            }
            // Linux has no call of Python for it.
            Unknown::Absent if field == Fields::BTIME => Ok(py.None().into_bound(py)),
            // The root of a file system that the scan has left out: nobody has looked at it.
            Unknown::Absent => stat_by_call(entry, of.is_followed)?.getattr(name),
        }
    }
}

/// Seconds as `os.stat_result` has them: a float is not exact.
fn seconds(of: &Attributes, time: Time) -> Option<f64> {
    let of_ns = |ns: i64| {
        let (whole, rest) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
        whole as f64 + 1e-9 * rest as f64
    };
    let whole = of.time_s(time).map(|seconds| seconds as f64);
    of.time_ns(time).map(of_ns).or(whole)
}

/// Nanoseconds; whole seconds of a time that 64 bits of nanoseconds do not hold.
fn nanoseconds(of: &Attributes, time: Time) -> Option<i128> {
    let whole = of
        .time_s(time)
        .map(|seconds| i128::from(seconds) * 1_000_000_000);
    of.time_ns(time).map(i128::from).or(whole)
}

macro_rules! getters {
    ($($name:ident $field:ident |$of:ident| $value:expr;)+) => {
        #[pymethods]
        impl Stat {
            $(#[getter]
            fn $name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let $of = self.of();
                self.known(py, $value, Fields::$field, stringify!($name))
            })+

            /// As `os.DirEntry.stat`: the attributes, or those of the file behind a link.
            #[pyo3(signature = (*, follow_symlinks = true))]
            fn __call__<'py>(
                slf: &Bound<'py, Self>,
                follow_symlinks: bool,
            ) -> PyResult<Bound<'py, PyAny>> {
                let of = slf.get().of();
                let is_link = of.kind == FileType::Symlink && follow_symlinks;
                if !is_link && of.valid.contains(STAT) {
                    return Ok(slf.clone().into_any());
                }
                stat_by_call(slf.get().entry.bind(slf.py()), follow_symlinks)
            }

            /// A pickle of it is that of its entry.
            fn __reduce__<'py>(
                slf: &Bound<'py, Self>,
            ) -> PyResult<(Bound<'py, PyAny>, (Py<Entry>, &'static str))> {
                let getattr = slf.py().import("builtins")?.getattr("getattr")?;
                Ok((getattr, (slf.get().entry.clone_ref(slf.py()), "stat")))
            }

            /// The known attributes, in the order of `os.stat_result`.
            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let mut known = Vec::new();
                $(if let Some(value) = { let $of = self.of(); $value } {
                    let value = value.into_bound_py_any(py)?;
                    known.push(format!("{}={}", stringify!($name), value.repr()?));
                })+
                Ok(format!("<Stat {}>", known.join(" ")))
            }
        }
    };
}

getters! {
    st_mode MODE |of| of.mode();
    st_ino ID |of| of.id().map(|id| id.ino() as u64);
    st_dev ID |of| of.id().map(|id| id.dev());
    st_nlink LINKS |of| of.links();
    st_uid OWNER |of| of.uid();
    st_gid OWNER |of| of.gid();
    st_size SIZE |of| of.size_bytes();
    st_atime ATIME |of| seconds(of, Time::Accessed);
    st_mtime MTIME |of| seconds(of, Time::Modified);
    st_ctime CTIME |of| seconds(of, Time::Changed);
    st_birthtime BTIME |of| seconds(of, Time::Born);
    st_atime_ns ATIME |of| nanoseconds(of, Time::Accessed);
    st_mtime_ns MTIME |of| nanoseconds(of, Time::Modified);
    st_ctime_ns CTIME |of| nanoseconds(of, Time::Changed);
    st_birthtime_ns BTIME |of| nanoseconds(of, Time::Born);
    st_blocks ALLOCATED |of| of.allocated_bytes().map(|bytes| bytes / 512);
    st_rdev RDEV |of| of.rdev();
}
