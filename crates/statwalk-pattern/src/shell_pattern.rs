// SPDX-License-Identifier: MIT OR Apache-2.0

//! A pattern of a shell, as GNU du takes it (lib/exclude.c of gnulib).

use std::ffi::{CStr, CString};
use std::fmt;

#[cfg(target_os = "linux")]
use statwalk_sys::fnmatch::fnmatch;

/// Fits a path, or the part of one behind any of its slashes.
#[derive(Clone, Debug)]
pub struct ShellPattern(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Without wildcards: a tail of a path, byte for byte.
    Tail(Vec<u8>),
    /// For fnmatch(3).
    Shell(CString),
}

/// The reason why bytes are no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShellPatternError {
    /// Wildcards need the C library of Linux: no other one was compared.
    Unsupported,
    /// The pattern, which holds a NUL.
    HoldsNul(Vec<u8>),
}

impl fmt::Display for ShellPatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShellPatternError::Unsupported => {
                f.write_str("shell patterns need the C library of Linux")
            }
            ShellPatternError::HoldsNul(pattern) => {
                let pattern = String::from_utf8_lossy(pattern);
                write!(f, "bad glob `{pattern}`: it holds a NUL")
            }
        }
    }
}

impl std::error::Error for ShellPatternError {}

impl ShellPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// Returns an error for a pattern that holds a NUL, and for wildcards elsewhere than on
    /// Linux.
    pub fn new(pattern: &[u8]) -> Result<ShellPattern, ShellPatternError> {
        let has_wildcards = has_wildcards(pattern);
        if has_wildcards && !cfg!(target_os = "linux") {
            return Err(ShellPatternError::Unsupported);
        }
        let whole = CString::new(pattern);
        let whole = whole.map_err(|_| ShellPatternError::HoldsNul(pattern.to_vec()))?;
        Ok(ShellPattern(match has_wildcards {
            true => Kind::Shell(whole),
            false => Kind::Tail(unescaped(pattern)),
        }))
    }

    /// Whether it fits a path.
    #[must_use]
    pub fn fits(&self, path: &CStr) -> bool {
        let bytes = path.to_bytes_with_nul();
        match &self.0 {
            Kind::Tail(tail) => match path.to_bytes().strip_suffix(&**tail) {
                Some(before) => before.is_empty() || before.ends_with(b"/"),
                None => false,
            },
            Kind::Shell(pattern) => (0..path.to_bytes().len())
                .filter(|&i| i == 0 || (bytes[i - 1] == b'/' && bytes[i] != b'/'))
                .any(|i| {
                    let tail = CStr::from_bytes_with_nul(&bytes[i..]);
                    fnmatch(pattern, tail.expect("a tail of a C string is one"))
                }),
        }
    }
}

/// No pattern with wildcards was made.
#[cfg(not(target_os = "linux"))]
fn fnmatch(_pattern: &CStr, _text: &CStr) -> bool {
    false
}

/// Whether a pattern has more in it than bytes and quoted bytes.
fn has_wildcards(pattern: &[u8]) -> bool {
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'?' | b'*' | b'[' => return true,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    false
}

/// The bytes of a pattern without their backslashes. One at the end stands for
/// itself, as it quotes nothing.
fn unescaped(pattern: &[u8]) -> Vec<u8> {
    let mut bytes = pattern.iter();
    let mut plain = Vec::with_capacity(pattern.len());
    while let Some(&byte) = bytes.next() {
        let quoted = bytes.as_slice().first().filter(|_| byte == b'\\');
        plain.push(match quoted {
            Some(&quoted) => {
                bytes.next();
                quoted
            }
            None => byte,
        });
    }
    plain
}
