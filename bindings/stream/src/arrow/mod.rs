// SPDX-License-Identifier: MIT OR Apache-2.0

//! Batches as arrays of Arrow, by its C interfaces.
//!
//! `abi.rs` has the structs of the interfaces, `array.rs` makes arrays of buffers,
//! `table.rs` makes the columns of a scan, and `stream.rs` gives one table after another.
//!
//! The interfaces: <https://arrow.apache.org/docs/format/CDataInterface.html> and
//! <https://arrow.apache.org/docs/format/CStreamInterface.html>.

mod abi;
mod array;
mod stream;
mod table;

pub use abi::{ArrowArray, ArrowArrayStream, ArrowSchema};
pub use stream::{AtIncomplete, stream};
pub use table::{schema, tables};
