// SPDX-License-Identifier: MIT OR Apache-2.0

//! Shell patterns, exactly as the C library understands them.
//!
//! GNU du's `--exclude` calls the same function, so a pattern means here what
//! it means there, down to the odd corners of bracket expressions.

use std::ffi::CStr;

/// Says whether `text` matches the shell pattern `pattern`.
///
/// No flags are set: `*` and `?` match a `/` and a leading dot too, and a
/// backslash quotes. The locale of the process decides what a character is; a
/// program that never calls `setlocale` compares bytes.
///
/// See fnmatch(3).
///
/// ```
/// use statwalk_sys::fnmatch::fnmatch;
/// assert!(fnmatch(c"*.o", c"build/main.o"));
/// assert!(!fnmatch(c"*.o", c"main.c"));
/// ```
#[must_use]
pub fn fnmatch(pattern: &CStr, text: &CStr) -> bool {
    // SAFETY: both pointers come from `CStr`, so they are valid for reads up to
    // and including their NUL, and fnmatch only reads.
    unsafe { libc::fnmatch(pattern.as_ptr(), text.as_ptr(), 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_shell() {
        let cases = [
            (c"a*b", c"a/x/b", true),
            (c"[!a]x", c"bx", true),
            (c"[^a]x", c"ax", false),
            (c"[[:digit:]]", c"7", true),
            (c"\\*", c"*", true),
            (c"\\*", c"x", false),
            (c"?", c"\xff", true),
            (c"*", c".hidden", true),
            (c"{a,b}", c"a", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(fnmatch(pattern, text), expected, "{pattern:?} {text:?}");
        }
    }
}
