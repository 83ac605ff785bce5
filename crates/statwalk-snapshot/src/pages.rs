// SPDX-License-Identifier: MIT OR Apache-2.0

//! The bytes of a file, for the library that decodes them: each page is checked before.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::error::Error;
use crate::{regular_file, thrift};

/// The most bytes of a page, compressed or not. A writer ends a page after 4 MiB.
pub(crate) const PAGE_BYTES_MAX: usize = 8 << 20;

/// The most values of a page: those of a row group.
const PAGE_VALUES_MAX: i64 = 262_144;

/// A file that is read by position. Threads can share it.
#[derive(Debug)]
pub(crate) struct Pages {
    file: File,
    path: PathBuf,
    length_bytes: u64,
}

impl Pages {
    /// Opens a file, which must have as many bytes as the manifest says.
    pub(crate) fn open(path: &Path, length_bytes: u64) -> std::result::Result<Pages, Error> {
        let failed = |error| Error::io("open", path, error);
        let file = regular_file::open(path).map_err(failed)??;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.len() != length_bytes {
            let message = format!(
                "has {} bytes, and the manifest says {length_bytes}",
                metadata.len()
            );
            return Err(Error::damaged(message).at(path));
        }
        Ok(Pages {
            file,
            path: path.to_owned(),
            length_bytes,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    /// Some bytes, which must lie in the file.
    pub(crate) fn bytes(&self, start: u64, length: usize) -> std::result::Result<Bytes, Error> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.length_bytes) {
            return Err(Error::damaged("a part lies behind the end of the file").at(&self.path));
        }
        let mut bytes = vec![0; length];
        let read = self.file.read_exact_at(&mut bytes, start);
        read.map_err(|error| Error::io("read", &self.path, error))?;
        Ok(bytes.into())
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.length_bytes
    }
}

/// Nobody reads a file from begin to end.
pub(crate) struct NoReader;

impl Read for NoReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl ChunkReader for Pages {
    type T = NoReader;

    fn get_read(&self, _: u64) -> Result<NoReader> {
        Err(ParquetError::General("a page has no place".to_owned()))
    }

    /// A page, whose header claims no more than pages have.
    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let wrong = |message: &str| Err(ParquetError::General(message.to_owned()));
        if length > PAGE_BYTES_MAX {
            return wrong("a page is too large");
        }
        let bytes = self.bytes(start, length);
        let bytes = bytes.map_err(|error| ParquetError::External(Box::new(error)))?;
        let Some(sizes) = thrift::page_sizes(&bytes) else {
            return wrong("a page has no header");
        };
        if !(0..=PAGE_BYTES_MAX as i64).contains(&sizes.uncompressed_bytes)
            || sizes.compressed_bytes != (length - sizes.header_bytes) as i64
            || !(0..=PAGE_VALUES_MAX).contains(&sizes.values)
        {
            return wrong("a page has an impossible size");
        }
        Ok(bytes)
    }
}
