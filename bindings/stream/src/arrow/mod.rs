// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tables as arrays of Arrow, by its C interfaces.
//!
//! `abi.rs` has the structs of the interfaces, and `array.rs` makes arrays of buffers.
//! `table.rs` makes the columns of a scan, and `stream.rs` gives one table after another.
//! `shared.rs` gives one array to several consumers.
//!
//! The interfaces: <https://arrow.apache.org/docs/format/CDataInterface.html> and
//! <https://arrow.apache.org/docs/format/CStreamInterface.html>.

mod abi;
mod array;
mod shared;
mod stream;
mod table;

pub use abi::{ArrowArray, ArrowArrayStream, ArrowSchema};
pub use shared::{share, stream_of};
pub use stream::{AtIncomplete, stream, stream_of_rest};
#[cfg(test)]
pub(crate) use table::begin_of_names;
pub use table::{schema, table, type_word};
