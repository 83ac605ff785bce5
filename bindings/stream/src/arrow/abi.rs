// SPDX-License-Identifier: MIT OR Apache-2.0

//! The structs of the C Data and C Stream interfaces of Arrow.

use std::ffi::{c_char, c_int, c_void};

/// `struct ArrowSchema`: the type of an array.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the interface has the meaning of each field")]
pub struct ArrowSchema {
    pub format: *const c_char,
    pub name: *const c_char,
    pub metadata: *const c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut ArrowSchema,
    pub dictionary: *mut ArrowSchema,
    pub release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    pub private_data: *mut c_void,
}

/// `struct ArrowArray`: the buffers of an array.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the interface has the meaning of each field")]
pub struct ArrowArray {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *mut *const c_void,
    pub children: *mut *mut ArrowArray,
    pub dictionary: *mut ArrowArray,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub private_data: *mut c_void,
}

/// `struct ArrowArrayStream`: arrays of one type, one after another.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "the interface has the meaning of each field")]
pub struct ArrowArrayStream {
    pub get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    pub get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    pub get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    pub private_data: *mut c_void,
}

impl ArrowSchema {
    /// A schema that was released.
    #[must_use]
    pub fn released() -> ArrowSchema {
        ArrowSchema {
            format: std::ptr::null(),
            name: std::ptr::null(),
            metadata: std::ptr::null(),
            flags: 0,
            n_children: 0,
            children: std::ptr::null_mut(),
            dictionary: std::ptr::null_mut(),
            release: None,
            private_data: std::ptr::null_mut(),
        }
    }
}

impl ArrowArray {
    /// An array that was released: in a stream, its end.
    #[must_use]
    pub fn released() -> ArrowArray {
        ArrowArray {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: std::ptr::null_mut(),
            children: std::ptr::null_mut(),
            dictionary: std::ptr::null_mut(),
            release: None,
            private_data: std::ptr::null_mut(),
        }
    }
}

// SAFETY: the pointers belong to the value alone, and lead to memory that any thread may
// use and release.
unsafe impl Send for ArrowSchema {}
// SAFETY: as above; the buffers behind it are owned, and nobody writes them.
unsafe impl Send for ArrowArray {}
// SAFETY: as above. Nobody writes an array that is shared.
unsafe impl Sync for ArrowArray {}
// SAFETY: as above; the state of our streams is `Send`.
unsafe impl Send for ArrowArrayStream {}

/// Releases a struct of the interfaces when it is dropped, if nobody has.
macro_rules! release_on_drop {
    ($($of:ident)+) => {
        $(impl Drop for $of {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the interface lets the owner call it once, with a valid
                    // pointer, as long as it is not null; the callback makes it null.
                    unsafe { release(self) };
                }
            }
        })+
    };
}
release_on_drop!(ArrowSchema ArrowArray ArrowArrayStream);
