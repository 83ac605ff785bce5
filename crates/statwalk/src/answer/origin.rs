// SPDX-License-Identifier: MIT OR Apache-2.0

//! The origin of an answer: when it began, on which machine, and with which words.
//!
//! An answer keeps these values, so that it can be printed later and elsewhere as it was.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::sync::{Arc, OnceLock};

use statwalk_sys::uname;

use crate::system::clock;

/// The origin of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The time when the program began, in nanoseconds since 1970.
    pub(crate) started_ns: i64,
    /// The name of the machine, as uname(2) has it: any bytes. Empty where that is refused.
    pub(crate) host: Vec<u8>,
    /// The words behind the name of the program.
    pub(crate) arguments: Vec<Vec<u8>>,
}

impl Origin {
    /// The origin of the answers of this process. The first call fixes the time.
    pub(crate) fn of_this_process() -> Arc<Origin> {
        static ORIGIN: OnceLock<Arc<Origin>> = OnceLock::new();
        let origin = || {
            Arc::new(Origin {
                started_ns: clock::now_ns(),
                host: uname::read().map(|names| names.host).unwrap_or_default(),
                arguments: std::env::args_os()
                    .skip(1)
                    .map(OsString::into_vec)
                    .collect(),
            })
        };
        Arc::clone(ORIGIN.get_or_init(origin))
    }

    /// The origin of an answer that begins now, in a process that gives several.
    pub(crate) fn of_now() -> Arc<Origin> {
        let process = Origin::of_this_process();
        Arc::new(Origin {
            started_ns: clock::now_ns(),
            ..(*process).clone()
        })
    }
}
