// SPDX-License-Identifier: MIT OR Apache-2.0

//! Arrays of Arrow that own their buffers.

use std::any::Any;
use std::ffi::{CString, c_void};

use statwalk_core::Bits;

use super::abi::{ArrowArray, ArrowSchema};

/// A nullable column: `ARROW_FLAG_NULLABLE`.
const NULLABLE: i64 = 2;

/// The memory of an array.
struct Owned {
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    dictionary: *mut ArrowArray,
    /// The memory of the buffers.
    _memory: Vec<Box<dyn Any + Send>>,
}

/// The memory of a schema.
struct OwnedSchema {
    format: CString,
    name: CString,
    children: Vec<*mut ArrowSchema>,
    dictionary: *mut ArrowSchema,
}

/// A buffer and the memory that it lies in.
pub(super) struct Buffer {
    pointer: *const c_void,
    memory: Option<Box<dyn Any + Send>>,
}

impl Buffer {
    pub(super) fn of<T: Send + 'static>(values: Vec<T>) -> Buffer {
        Buffer {
            // The heap stays where it is when the vector moves.
            pointer: values.as_ptr().cast(),
            memory: Some(Box::new(values)),
        }
    }

    pub(super) fn of_static<T: Sync>(values: &'static [T]) -> Buffer {
        Buffer {
            pointer: values.as_ptr().cast(),
            memory: None,
        }
    }

    /// The validity of values, where one is not valid.
    pub(super) fn of_bits(bits: Bits) -> Buffer {
        bits.into_bytes().map_or(Buffer::absent(), Buffer::of)
    }

    pub(super) fn absent() -> Buffer {
        Buffer {
            pointer: std::ptr::null(),
            memory: None,
        }
    }
}

/// An array of buffers, of which the first is the validity.
pub(super) fn array(
    length: usize,
    null_count: usize,
    buffers: Vec<Buffer>,
    children: Vec<ArrowArray>,
    dictionary: Option<ArrowArray>,
) -> ArrowArray {
    let to_heap = |array| Box::into_raw(Box::new(array));
    let mut memory = Vec::new();
    let mut pointers = Vec::with_capacity(buffers.len());
    for buffer in buffers {
        pointers.push(buffer.pointer);
        memory.extend(buffer.memory);
    }
    let owned = Box::into_raw(Box::new(Owned {
        buffers: pointers,
        children: children.into_iter().map(to_heap).collect(),
        dictionary: dictionary.map_or(std::ptr::null_mut(), to_heap),
        _memory: memory,
    }));
    // SAFETY: the box was made above, and nobody else has its pointer yet.
    let parts = unsafe { &mut *owned };
    ArrowArray {
        length: length as i64,
        null_count: null_count as i64,
        offset: 0,
        n_buffers: parts.buffers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.buffers.as_mut_ptr(),
        children: match parts.children.is_empty() {
            true => std::ptr::null_mut(),
            false => parts.children.as_mut_ptr(),
        },
        dictionary: parts.dictionary,
        release: Some(release_array),
        private_data: owned.cast(),
    }
}

/// A type, by its format string.
pub(super) fn schema(
    name: &str,
    format: &str,
    is_nullable: bool,
    children: Vec<ArrowSchema>,
    dictionary: Option<ArrowSchema>,
) -> ArrowSchema {
    let to_heap = |schema| Box::into_raw(Box::new(schema));
    let owned = Box::into_raw(Box::new(OwnedSchema {
        format: CString::new(format).unwrap_or_default(),
        name: CString::new(name).unwrap_or_default(),
        children: children.into_iter().map(to_heap).collect(),
        dictionary: dictionary.map_or(std::ptr::null_mut(), to_heap),
    }));
    // SAFETY: the box was made above, and nobody else has its pointer yet.
    let parts = unsafe { &mut *owned };
    ArrowSchema {
        format: parts.format.as_ptr(),
        name: parts.name.as_ptr(),
        metadata: std::ptr::null(),
        flags: if is_nullable { NULLABLE } else { 0 },
        n_children: parts.children.len() as i64,
        children: match parts.children.is_empty() {
            true => std::ptr::null_mut(),
            false => parts.children.as_mut_ptr(),
        },
        dictionary: parts.dictionary,
        release: Some(release_schema),
        private_data: owned.cast(),
    }
}

/// # Safety
///
/// `array` is an array that [`array`] made and nobody has released; it can have been moved
/// since. A child that was moved away has no release callback.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the caller gives a valid array, and its private data is the box that
    // `array` made, which this call alone takes back: the callback is null afterwards.
    let owned = unsafe {
        (*array).release = None;
        Box::from_raw((*array).private_data.cast::<Owned>())
    };
    for &child in &owned.children {
        // SAFETY: `array` made a box of each child. Dropping it releases the child, unless
        // a consumer has moved it away and marked it as released.
        drop(unsafe { Box::from_raw(child) });
    }
    if !owned.dictionary.is_null() {
        // SAFETY: as for the children.
        drop(unsafe { Box::from_raw(owned.dictionary) });
    }
}

/// # Safety
///
/// As [`release_array`], for a schema that [`schema`] made.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: as in `release_array`.
    let owned = unsafe {
        (*schema).release = None;
        Box::from_raw((*schema).private_data.cast::<OwnedSchema>())
    };
    for &child in &owned.children {
        // SAFETY: `schema` made a box of each child.
        drop(unsafe { Box::from_raw(child) });
    }
    if !owned.dictionary.is_null() {
        // SAFETY: `schema` made a box of the dictionary.
        drop(unsafe { Box::from_raw(owned.dictionary) });
    }
}
