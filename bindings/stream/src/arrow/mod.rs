// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tables as arrays of Arrow, by its C interfaces.
//!
//! `table.rs` makes record batches of the columns of a scan, without a copy. `stream.rs` gives
//! one batch after another. The arrays, and the structs of the C interfaces, are those of
//! the `arrow-array` crate.
//!
//! The interfaces: <https://arrow.apache.org/docs/format/CDataInterface.html> and
//! <https://arrow.apache.org/docs/format/CStreamInterface.html>.

mod bytes;
mod cell;
mod stream;
mod table;

pub use arrow_array::RecordBatch;
pub use arrow_array::ffi::{FFI_ArrowArray as ArrowArray, FFI_ArrowSchema as ArrowSchema};
pub use arrow_array::ffi_stream::FFI_ArrowArrayStream as ArrowArrayStream;
pub use bytes::{from_bytes, to_bytes};
pub use cell::Cell;
pub use stream::{AtIncomplete, stream, stream_of, stream_of_rest};
pub use table::{STAT, TableType, array, bits_of, type_word, words};
