// SPDX-License-Identifier: MIT OR Apache-2.0

//! Arrays that several consumers have at once, without a copy.

use std::collections::VecDeque;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

use super::abi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use super::table::schema;
use crate::request::Request;

/// The pointers of an array that belongs to somebody else, who lives as long.
struct Share {
    _owner: Arc<ArrowArray>,
    children: Vec<*mut ArrowArray>,
    dictionary: *mut ArrowArray,
}

/// Gives an array that was made here once more. It leads to the same buffers, which live
/// until the last is released.
#[must_use]
pub fn share(owner: &Arc<ArrowArray>) -> ArrowArray {
    share_part(owner, owner)
}

fn share_part(owner: &Arc<ArrowArray>, part: &ArrowArray) -> ArrowArray {
    let children = (0..part.n_children as usize).map(|child| {
        // SAFETY: an array has as many pointers to children as it says, and nobody
        // releases the children of one that is shared.
        let child = unsafe { &**part.children.add(child) };
        Box::into_raw(Box::new(share_part(owner, child)))
    });
    let children: Vec<_> = children.collect();
    // SAFETY: a dictionary is null or valid, as the children.
    let dictionary = unsafe { part.dictionary.as_ref() };
    let dictionary = dictionary.map_or(std::ptr::null_mut(), |dictionary| {
        Box::into_raw(Box::new(share_part(owner, dictionary)))
    });
    let share = Box::into_raw(Box::new(Share {
        _owner: Arc::clone(owner),
        children,
        dictionary,
    }));
    // SAFETY: the box was made above, and nobody else has its pointer yet.
    let parts = unsafe { &mut *share };
    ArrowArray {
        children: match parts.children.is_empty() {
            true => std::ptr::null_mut(),
            false => parts.children.as_mut_ptr(),
        },
        dictionary: parts.dictionary,
        release: Some(release_share),
        private_data: share.cast(),
        length: part.length,
        null_count: part.null_count,
        offset: part.offset,
        n_buffers: part.n_buffers,
        n_children: part.n_children,
        buffers: part.buffers,
    }
}

/// # Safety
///
/// `array` is of [`share`], and nobody has released it; it can have been moved since.
unsafe extern "C" fn release_share(array: *mut ArrowArray) {
    // SAFETY: the caller gives a valid array, and its private data is the box that
    // `share_part` made, which this call alone takes back: the callback is null afterwards.
    let share = unsafe {
        (*array).release = None;
        Box::from_raw((*array).private_data.cast::<Share>())
    };
    for &child in &share.children {
        // SAFETY: `share_part` made a box of each child. Dropping it releases the child,
        // unless a consumer has moved it away and marked it as released.
        drop(unsafe { Box::from_raw(child) });
    }
    if !share.dictionary.is_null() {
        // SAFETY: as for the children.
        drop(unsafe { Box::from_raw(share.dictionary) });
    }
}

struct Kept {
    request: Request,
    tables: VecDeque<Arc<ArrowArray>>,
}

/// A stream of tables that are there already.
#[must_use]
pub fn stream_of(request: &Request, tables: &[Arc<ArrowArray>]) -> ArrowArrayStream {
    let kept = Kept {
        request: request.clone(),
        tables: tables.iter().map(Arc::clone).collect(),
    };
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(Box::new(kept)).cast(),
    }
}

/// # Safety
///
/// `stream` is of [`stream_of`] and not released, and `out` leads to memory for a schema.
unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the private data is the box of `stream_of`, and a consumer makes one call
    // at a time. The caller gives memory for a schema, which holds none.
    unsafe {
        let kept = &*(*stream).private_data.cast::<Kept>();
        out.write(schema(&kept.request));
    }
    0
}

/// # Safety
///
/// As [`get_schema`], for an array.
unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `get_schema`.
    unsafe {
        let kept = &mut *(*stream).private_data.cast::<Kept>();
        let table = kept.tables.pop_front();
        out.write(table.map_or_else(ArrowArray::released, |table| share(&table)));
    }
    0
}

/// # Safety
///
/// No pointer is used.
unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    std::ptr::null()
}

/// # Safety
///
/// As [`get_schema`].
unsafe extern "C" fn release(stream: *mut ArrowArrayStream) {
    // SAFETY: the box of `stream_of`, which this call alone takes back: the callback is
    // null afterwards.
    unsafe {
        (*stream).release = None;
        drop(Box::from_raw((*stream).private_data.cast::<Kept>()));
    }
}
