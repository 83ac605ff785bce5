// SPDX-License-Identifier: MIT OR Apache-2.0

//! The entries that a scan leaves out on request: patterns, cache directories, and the
//! names in `.gitignore` files.
//!
//! Policy as data. The source asks it about each name and reads the files that
//! it needs.

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::directory::Place;
use crate::error::{Errno, Error, Op};
use crate::failure::Failure;
use crate::path::file_name;
use crate::system::text_file;
use statwalk_pattern::{Excess, IgnoreFile, ShellPattern};

/// The entries that a scan leaves out.
///
/// ```
/// use statwalk_core::Exclusions;
/// let exclusions = Exclusions::new().glob(b"*.o")?.caches(true);
/// assert!(Exclusions::new().glob(b"a\0b").is_err());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Exclusions {
    patterns: Vec<ShellPattern>,
    caches: bool,
    gitignore: bool,
    /// The roots of the scan of which this one is a part.
    tops: Vec<PathBuf>,
}

impl Exclusions {
    /// Leaves out nothing.
    #[must_use]
    pub fn new() -> Exclusions {
        Exclusions::default()
    }

    /// Leaves out paths that match a shell pattern, with the meaning that GNU du gives
    /// it. A pattern fits a path if it fits the whole of it or the part behind any of
    /// its slashes, and `*` fits a slash too.
    ///
    /// A `[` without its `]` stands for itself. Where a range or a class is open,
    /// too, as in `[a-` and `[[:`, the pattern fits nothing, as in du.
    ///
    /// # Errors
    ///
    /// Returns an error for a pattern that holds a NUL.
    pub fn glob(mut self, pattern: &[u8]) -> Result<Exclusions, Error> {
        let pattern = ShellPattern::new(pattern);
        self.patterns
            .push(pattern.map_err(|error| Error::pattern(None, error.to_string()))?);
        Ok(self)
    }

    /// Leaves out what matches any line of a file, as by [`glob`](Self::glob).
    /// White space at the end of a line is no part of the pattern.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or holds a bad pattern.
    pub fn glob_file(mut self, path: &Path) -> Result<Exclusions, Error> {
        let text = text_file::read(path)
            .map_err(|error| Error::io(Op::Patterns, Some(path.to_path_buf()), error))?;
        for line in text.split(|&byte| byte == b'\n') {
            // As du does it: isspace(3), which has the vertical tabulator too.
            let is_space = |byte: &u8| matches!(byte, b' ' | 9..=13);
            let end = line.iter().rposition(|byte| !is_space(byte));
            if let Some(last) = end {
                self = self
                    .glob(&line[..=last])
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
    ///
    /// A directory with an entry `.git` is the top of a repository, and the files above
    /// it do not count below it.
    #[must_use]
    pub fn gitignore(mut self, leave_out: bool) -> Exclusions {
        self.gitignore = leave_out;
        self
    }

    /// Those of a part of the scan of these roots.
    pub(crate) fn within(mut self, roots: Vec<PathBuf>) -> Exclusions {
        if self.gitignore && self.tops.is_empty() {
            self.tops = roots;
        }
        self
    }

    /// The `.gitignore` rules that come from above a root, and the files that could not be
    /// read. Relative roots lead from `here`.
    pub(crate) fn above_root(
        &self,
        root: &[u8],
        here: &Path,
    ) -> (Option<Arc<IgnoreRules>>, Vec<NotRead>) {
        IgnoreRules::above_root(root, &self.tops, here)
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
        self.patterns.iter().any(|pattern| pattern.fits(&path))
    }
}

/// The `.gitignore` files that apply in a directory, nearest first.
pub(crate) struct IgnoreRules {
    /// The directory of the file.
    directory: PathBuf,
    file: IgnoreFile,
    above: Option<Arc<IgnoreRules>>,
    root: Arc<RootPath>,
}

/// A file that could not be read, by its path.
pub(crate) type NotRead = (Vec<u8>, Failure);

/// A root by the path that the caller gave, and by its real one.
struct RootPath {
    given_length: usize,
    real: PathBuf,
}

impl IgnoreRules {
    /// The rules that come from above a root, from the top of its repository or of the scan
    /// of which this one is a part. And the files that could not be read.
    fn above_root(
        given: &[u8],
        tops: &[PathBuf],
        here: &Path,
    ) -> (Option<Arc<IgnoreRules>>, Vec<NotRead>) {
        let mut not_read = Vec::new();
        let Ok(real) = std::fs::canonicalize(here.join(file_name(given))) else {
            return (None, not_read);
        };
        let repository = real.ancestors().find(|dir| dir.join(".git").exists());
        let mut tops = tops
            .iter()
            .filter_map(|top| std::fs::canonicalize(here.join(top)).ok());
        let top = match repository {
            Some(top) => Some(top.to_owned()),
            // An entry belongs to the first root that reaches it.
            None => tops.find(|top| real.starts_with(top)),
        };
        let root = Arc::new(RootPath {
            given_length: given.len(),
            real: real.clone(),
        });
        let mut chain = Arc::new(IgnoreRules {
            directory: real.clone(),
            file: IgnoreFile::default(),
            above: None,
            root: Arc::clone(&root),
        });
        let Some(top) = top else {
            return (Some(chain), not_read);
        };
        let mut above: Vec<&Path> = real
            .ancestors()
            .skip(1)
            .take_while(|dir| dir.starts_with(&top))
            .collect();
        above.reverse();
        for dir in above {
            let path = dir.join(GITIGNORE);
            let with = match text_file::read_regular(&path, GITIGNORE_MAX + 1) {
                Ok(text) => chain.with_text(dir.to_owned(), &text),
                Err(error) if is_none(&error) || path.is_dir() => continue,
                Err(error) => Err(error
                    .raw_os_error()
                    .map_or(Failure::NOT_REGULAR, |number| Failure::Other(Errno(number)))),
            };
            match with {
                Ok(with) => chain = with,
                Err(failure) => {
                    not_read.push((path.into_os_string().into_encoded_bytes(), failure));
                }
            }
        }
        (Some(chain), not_read)
    }

    /// Whether a file above could leave something out.
    pub(crate) fn have_patterns(&self) -> bool {
        self.above.is_some()
    }

    /// The rules at the top of a repository below: git applies no file from outside.
    pub(crate) fn of_repository(&self) -> Arc<IgnoreRules> {
        Arc::new(IgnoreRules {
            directory: self.root.real.clone(),
            file: IgnoreFile::default(),
            above: None,
            root: Arc::clone(&self.root),
        })
    }

    /// The rules with those of one more directory, whose `.gitignore` holds `text`.
    ///
    /// It is an error if the file is too long, or if its patterns and those above cost too
    /// much.
    pub(crate) fn with(
        self: &Arc<Self>,
        directory: &Place,
        text: &[u8],
    ) -> Result<Arc<IgnoreRules>, Failure> {
        self.with_text(self.real_path(&directory.path()), text)
    }

    fn with_text(
        self: &Arc<Self>,
        directory: PathBuf,
        text: &[u8],
    ) -> Result<Arc<IgnoreRules>, Failure> {
        let file = IgnoreFile::new(text, &self.file).map_err(|excess| match excess {
            Excess::OfPatterns => Failure::TOO_LARGE,
            Excess::OfMemory => Failure::NO_MEMORY,
        })?;
        Ok(Arc::new(IgnoreRules {
            directory,
            file,
            above: Some(Arc::clone(self)),
            root: Arc::clone(&self.root),
        }))
    }

    /// Whether they leave out the entry at `path`.
    pub(crate) fn leave_out(&self, path: &[u8], is_directory: bool) -> bool {
        let real = self.real_path(path);
        let mut rules = Some(self);
        while let Some(level) = rules {
            let below = real.strip_prefix(&level.directory).ok();
            let below = below.map(|below| below.as_os_str().as_encoded_bytes());
            // Files nearer to the entry come first.
            match below.and_then(|below| level.file.leaves_out(below, is_directory)) {
                None => rules = level.above.as_deref(),
                Some(leaves_out) => return leaves_out,
            }
        }
        false
    }

    fn real_path(&self, path: &[u8]) -> PathBuf {
        let below = &path[self.root.given_length.min(path.len())..];
        let below = below.strip_prefix(b"/").unwrap_or(below);
        self.root.real.join(file_name(below))
    }
}

/// Whether no such file is there.
fn is_none(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

pub(crate) const GITIGNORE: &str = ".gitignore";

/// A longer `.gitignore` is not read.
pub(crate) const GITIGNORE_MAX: usize = IgnoreFile::TEXT_MAX;

/// The first bytes of a valid `CACHEDIR.TAG`.
pub(crate) const CACHE_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_beyond_a_bound_is_an_error() {
        let scratch = statwalk_testkit::Scratch::new().unwrap();
        let path = scratch.path().as_os_str().as_encoded_bytes();
        let root = IgnoreRules::above_root(path, &[], Path::new("")).0.unwrap();
        let with = |text: &str| root.with_text(scratch.path().to_owned(), text.as_bytes());
        let long = "x".repeat(IgnoreFile::TEXT_MAX + 1);
        assert_eq!(with(&long).err(), Some(Failure::TOO_LARGE));
        let (lines, mut beside) = ("a\n".repeat(IgnoreFile::TEXT_MAX / 4), Vec::new());
        let failure = loop {
            match with(&lines) {
                Ok(rules) => beside.push(rules),
                Err(failure) => break failure,
            }
        };
        assert_eq!(failure, Failure::NO_MEMORY);
    }

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
    fn what_is_no_wildcard_stands_for_itself() {
        let check = |pattern: &[u8], path: &[u8], expected: bool| {
            let exclusions = Exclusions::new().glob(pattern).unwrap();
            let (pattern, text) = (pattern.escape_ascii(), path.escape_ascii());
            assert_eq!(exclusions.fits(path), expected, "{pattern} {text}");
        };
        check(b"[", b"x/[", true);
        check(b"[a", b"[a", true);
        check(b"[a", b"a", false);
        // fnmatch_loop.c of glibc gives such a pattern up.
        check(b"[a-", b"[a-", false);
        check(b"a\\", b"x/a\\", true);
        check(b"a\\", b"a", false);
        check(b"\\a\\*", b"x/a*", true);
        check(b"\\a\\*", b"x/ab", false);
        check(b"\xff", b"x/\xff", true);
        check(b"b", b"ab", false);
        check(b"/b", b"a//b", true);
        check(b"", b"a/", true);
    }

    #[test]
    fn a_pattern_with_a_nul_is_refused() {
        for bad in [&b"a\0"[..], b"*\0b"] {
            let error = Exclusions::new().glob(bad).unwrap_err();
            assert!(error.to_string().contains("a NUL"), "{error}");
        }
    }
}
