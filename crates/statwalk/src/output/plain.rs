// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows for other programs: a number, a tabulator, and a path as it is.

use std::io::{self, Write};

use crate::failure::Failure;
use crate::output::Output;
use crate::request::RowEnd;

/// Writes rows of columns.
pub(crate) struct Rows {
    out: Output,
    end: u8,
}

impl Rows {
    pub(crate) fn new(end: RowEnd) -> Rows {
        Rows {
            out: Output::new(),
            end: end.byte(),
        }
    }

    /// Writes a row; the last column may be any bytes.
    pub(crate) fn row(&mut self, columns: &[&str], last: &[u8]) -> Result<(), Failure> {
        let end = self.end;
        self.out.write(|out| write_row(out, columns, last, end))
    }

    /// The rows, which stdout does not get.
    #[cfg(test)]
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out.into_bytes()
    }

    /// Writes what is still in the buffer.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.out.finish()
    }
}

fn write_row(out: &mut impl Write, columns: &[&str], last: &[u8], end: u8) -> io::Result<()> {
    for column in columns {
        out.write_all(column.as_bytes())?;
        out.write_all(b"\t")?;
    }
    out.write_all(last)?;
    out.write_all(&[end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_keeps_its_bytes() {
        let mut out = Vec::new();
        write_row(&mut out, &["12"], b"a\xff\n", 0).unwrap();
        write_row(&mut out, &[], b"b", b'\n').unwrap();
        assert_eq!(out, b"12\ta\xff\n\0b\n");
    }
}
