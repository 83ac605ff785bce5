// SPDX-License-Identifier: MIT OR Apache-2.0

//! The reasons for which a scan gives nothing more.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A scan that could not begin, or that gives nothing more.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The scan could not begin.
    Begin(statwalk_core::Error),
    /// A panic: a fault of statwalk. Its words, where it has some.
    Panic(String),
    /// The scan was begun before a fork, and this is the child.
    Forked,
    /// A caller wanted the impossible.
    Invalid(&'static str),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Begin(error) => error.fmt(f),
            Failure::Panic(words) => write!(f, "statwalk failed: {words}"),
            Failure::Forked => f.write_str("the scan was begun before a fork: begin another one"),
            Failure::Invalid(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failure::Begin(error) => Some(error),
            _ => None,
        }
    }
}

impl Failure {
    /// The failure again, for a caller who asks again.
    pub(crate) fn again(&self) -> Failure {
        match self {
            Failure::Begin(_) => Failure::Invalid("the scan did not begin"),
            Failure::Panic(words) => Failure::Panic(words.clone()),
            Failure::Forked => Failure::Forked,
            Failure::Invalid(words) => Failure::Invalid(words),
        }
    }

    /// Calls something, and makes a failure of its panic.
    ///
    /// The caller must not use what the call may have left half done.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Panic`] if the call panics.
    pub fn catch<T>(call: impl FnOnce() -> T) -> Result<T, Failure> {
        catch_unwind(AssertUnwindSafe(call)).map_err(|panic| Failure::Panic(words_of(&*panic)))
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without words".to_owned())
}
