// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a scan leaves out on request: patterns, cache directories, and what
//! `.gitignore` files name.
//!
//! Policy as data. The source asks it about each name and reads the files that
//! it needs.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use statwalk_sys::fnmatch::fnmatch;

use crate::directory::Place;
use crate::error::{Error, Op};

/// What a scan leaves out.
///
/// ```
/// use statwalk::Exclusions;
/// let exclusions = Exclusions::new().glob(b"*.o")?.caches(true);
/// assert!(Exclusions::new().glob(b"[a").is_err());
/// # Ok::<(), statwalk::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Exclusions {
    patterns: Vec<CString>,
    caches: bool,
    gitignore: bool,
}

impl Exclusions {
    /// Leaves out nothing.
    #[must_use]
    pub fn new() -> Exclusions {
        Exclusions::default()
    }

    /// Leaves out what matches a shell pattern, with the meaning that GNU du
    /// gives it: a pattern fits a path if it fits the whole of it or what
    /// follows any of its slashes, and `*` fits a slash too.
    ///
    /// # Errors
    ///
    /// Returns an error for a pattern that ends within a bracket expression or
    /// after a backslash, or holds a NUL.
    pub fn glob(mut self, pattern: &[u8]) -> Result<Exclusions, Error> {
        let named = || format!("bad glob `{}`", String::from_utf8_lossy(pattern));
        if let Some(fault) = fault_in(pattern) {
            return Err(Error::pattern(None, format!("{}: {fault}", named())));
        }
        let pattern = CString::new(pattern)
            .map_err(|_| Error::pattern(None, format!("{}: it holds a NUL", named())))?;
        self.patterns.push(pattern);
        Ok(self)
    }

    /// Leaves out what matches any line of a file, as by [`glob`](Self::glob).
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or holds a bad pattern.
    pub fn glob_file(mut self, path: &Path) -> Result<Exclusions, Error> {
        let text = std::fs::read(path)
            .map_err(|error| Error::io(Op::Patterns, Some(path.to_path_buf()), error))?;
        for line in text.split(|&byte| byte == b'\n') {
            if !line.is_empty() {
                self = self
                    .glob(line)
                    .map_err(|error| Error::pattern(Some(path.to_path_buf()), error.to_string()))?;
            }
        }
        Ok(self)
    }

    /// Whether to leave out directories that hold a valid `CACHEDIR.TAG`.
    ///
    /// See <https://bford.info/cachedir/>.
    #[must_use]
    pub fn caches(mut self, leave_out: bool) -> Exclusions {
        self.caches = leave_out;
        self
    }

    /// Whether to leave out what `.gitignore` files name: those in the tree,
    /// and those above a root up to the top of its repository.
    #[must_use]
    pub fn gitignore(mut self, leave_out: bool) -> Exclusions {
        self.gitignore = leave_out;
        self
    }

    pub(crate) fn leaves_out_caches(&self) -> bool {
        self.caches
    }

    pub(crate) fn reads_gitignore(&self) -> bool {
        self.gitignore
    }

    /// Whether files decide about what lies beside them.
    pub(crate) fn read_files(&self) -> bool {
        self.caches || self.gitignore
    }

    /// Whether names must be looked at at all.
    pub(crate) fn need_paths(&self) -> bool {
        !self.patterns.is_empty() || self.gitignore
    }

    /// Whether a pattern fits the path.
    pub(crate) fn fits(&self, path: &[u8]) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let Ok(path) = CString::new(path) else {
            return false;
        };
        let bytes = path.as_bytes_with_nul();
        let starts = (0..path.as_bytes().len())
            .filter(|&i| i == 0 || (bytes[i - 1] == b'/' && bytes[i] != b'/'))
            .map(|i| {
                std::ffi::CStr::from_bytes_with_nul(&bytes[i..])
                    .expect("a tail of a C string is one")
            });
        starts
            .into_iter()
            .any(|tail| self.patterns.iter().any(|pattern| fnmatch(pattern, tail)))
    }
}

/// What is wrong with a shell pattern, if anything.
fn fault_in(pattern: &[u8]) -> Option<&'static str> {
    let mut rest = pattern;
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        match first {
            b'\\' => match rest.split_first() {
                Some((_, tail)) => rest = tail,
                None => return Some("it ends with a backslash"),
            },
            b'[' => match bracket_end(rest) {
                Some(end) => rest = &rest[end..],
                None => return Some("`[` without `]`"),
            },
            _ => {}
        }
    }
    None
}

/// How long a bracket expression is, from behind its `[` to behind its `]`.
fn bracket_end(text: &[u8]) -> Option<usize> {
    let mut at = usize::from(matches!(text.first(), Some(b'!' | b'^')));
    // A `]` in the first place stands for itself.
    if text.get(at) == Some(&b']') {
        at += 1;
    }
    loop {
        match *text.get(at)? {
            b']' => return Some(at + 1),
            b'\\' => at += 2,
            b'[' if matches!(text.get(at + 1), Some(b':' | b'.' | b'=')) => {
                let mark = [text[at + 1], b']'];
                let end = text[at + 2..].windows(2).position(|pair| pair == mark)?;
                at += 2 + end + 2;
            }
            _ => at += 1,
        }
    }
}

/// The `.gitignore` files that apply in a directory, nearest first.
pub(crate) struct IgnoreRules {
    rules: Gitignore,
    above: Option<Arc<IgnoreRules>>,
    root: Arc<RootPath>,
}

/// A root by the path that the caller gave, and by its real one.
struct RootPath {
    given_length: usize,
    real: PathBuf,
}

impl IgnoreRules {
    /// The rules that come from above a root.
    pub(crate) fn above_root(given: &[u8]) -> Option<Arc<IgnoreRules>> {
        let real = std::fs::canonicalize(OsStr::from_bytes(given)).ok()?;
        let top = real.ancestors().find(|dir| dir.join(".git").exists());
        let root = Arc::new(RootPath {
            given_length: given.len(),
            real: real.clone(),
        });
        let mut chain = Arc::new(IgnoreRules {
            rules: Gitignore::empty(),
            above: None,
            root: Arc::clone(&root),
        });
        let Some(top) = top else { return Some(chain) };
        let mut above: Vec<&Path> = real
            .ancestors()
            .skip(1)
            .take_while(|dir| dir.starts_with(top))
            .collect();
        above.reverse();
        for dir in above {
            if let Ok(text) = std::fs::read(dir.join(".gitignore")) {
                chain = Arc::new(IgnoreRules {
                    rules: rules_of(dir, &text),
                    above: Some(chain),
                    root: Arc::clone(&root),
                });
            }
        }
        Some(chain)
    }

    /// The rules with those of one more directory, whose `.gitignore` holds `text`.
    pub(crate) fn with(self: &Arc<Self>, directory: &Place, text: &[u8]) -> Arc<IgnoreRules> {
        let real = self.real_path(&directory.path());
        Arc::new(IgnoreRules {
            rules: rules_of(&real, text),
            above: Some(Arc::clone(self)),
            root: Arc::clone(&self.root),
        })
    }

    /// Whether they leave out the entry at `path`.
    pub(crate) fn leave_out(&self, path: &[u8], is_directory: bool) -> bool {
        let real = self.real_path(path);
        let mut rules = Some(self);
        while let Some(level) = rules {
            match level.rules.matched(&real, is_directory) {
                Match::None => rules = level.above.as_deref(),
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }

    fn real_path(&self, path: &[u8]) -> PathBuf {
        let below = &path[self.root.given_length.min(path.len())..];
        let below = below.strip_prefix(b"/").unwrap_or(below);
        self.root.real.join(OsStr::from_bytes(below))
    }
}

fn rules_of(dir: &Path, text: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(dir);
    for line in text.split(|&byte| byte == b'\n') {
        // A line that is no pattern is passed over, as git does.
        let _ = builder.add_line(None, &String::from_utf8_lossy(line));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The first bytes of a valid `CACHEDIR.TAG`.
pub(crate) const CACHE_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_mean_in_du() {
        let check = |pattern: &str, path: &str, expected: bool| {
            let exclusions = Exclusions::new().glob(pattern.as_bytes()).unwrap();
            assert_eq!(
                exclusions.fits(path.as_bytes()),
                expected,
                "{pattern} {path}"
            );
        };
        check("*.o", "src/a.o", true);
        check("a.o", "src/a.o", true);
        check("src/a.o", "x/src/a.o", true);
        check("rc/a.o", "src/a.o", false);
        check("s*o", "src/a.o", true);
        check("src", "src/a.o", false);
        check("", "a", false);
    }

    #[test]
    fn bad_patterns_are_named() {
        for bad in ["[", "a[b", "x\\", "[[:alpha:]", "[]"] {
            let error = Exclusions::new().glob(bad.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(bad), "{error}");
        }
        for good in ["[]]", "[!]a]", "a]", "[[:alpha:]]", "\\["] {
            assert!(Exclusions::new().glob(good.as_bytes()).is_ok(), "{good}");
        }
    }
}
