// SPDX-License-Identifier: MIT OR Apache-2.0

//! The filters of the default view, `find`, `top` and `stats`.
//!
//! An entry whose attribute is unknown does not pass a filter on it.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use statwalk_core::{Attributes, Directory, EntryRef, Fields, FileType};
use statwalk_view::{NamePattern, SizeFilter, parse_moment};

use crate::failure::Failure;
use crate::flags::{FilterFlags, shown_word};
use crate::request::invalid;
use crate::request::name_pattern;
use crate::request::owners::OwnerFilter;
use crate::stored::StoredScan;

#[derive(Clone, Debug, Default)]
pub(crate) struct Filters {
    /// One of them must match, if there are any.
    patterns: Vec<NamePattern>,
    /// One of them must match, if there are any.
    extensions: Vec<Extension>,
    /// The type must be one of them, if there are any.
    kinds: Vec<FileType>,
    /// All of them must match.
    sizes: Vec<SizeFilter>,
    after_ns: Option<i64>,
    before_ns: Option<i64>,
    owner: Option<OwnerFilter>,
}

/// The filters on names, as the user writes them.
pub(crate) struct NameFilters {
    /// The first flag.
    pub(crate) flag: &'static str,
    /// All of them, as words for a shell, where `top --dirs` takes them. It takes no
    /// filters on owners and times.
    pub(crate) for_directories: Option<String>,
}

impl NameFilters {
    /// Those that `flags` set; absent where they set none.
    pub(crate) fn new(flags: &FilterFlags) -> Option<NameFilters> {
        let globs = flags.glob.iter().map(|glob| ("-g", OsStr::new(glob)));
        let extensions = flags.extension.iter().map(|end| ("-e", end.as_os_str()));
        let all: Vec<_> = globs.chain(extensions).collect();
        let &(flag, _) = all.first()?;
        let suits = flags.owner.is_none()
            && flags.changed_within.is_none()
            && flags.changed_before.is_none();
        let words = all
            .iter()
            .map(|(flag, word)| format!("{flag} {}", shown_word(word)));
        Some(NameFilters {
            flag,
            for_directories: suits.then(|| words.collect::<Vec<_>>().join(" ")),
        })
    }
}

impl Filters {
    /// The filters that `flags` set. Those of a stored scan refer to its time and its accounts.
    pub(crate) fn new(
        flags: &FilterFlags,
        stored: Option<&StoredScan>,
    ) -> Result<Filters, Failure> {
        let globs = flags.glob.iter().map(|glob| name_pattern::glob(glob));
        let kinds = flags.kind.iter().map(|kind| parse_kind(kind));
        let sizes = flags
            .size
            .iter()
            .map(|size| size.parse().map_err(|error| invalid("--size", size, error)));
        let (within, before) = (&flags.changed_within, &flags.changed_before);
        Ok(Filters {
            patterns: globs.collect::<Result<_, _>>()?,
            extensions: flags
                .extension
                .iter()
                .map(Extension::new)
                .collect::<Result<_, _>>()?,
            kinds: kinds.collect::<Result<_, _>>()?,
            sizes: sizes.collect::<Result<_, _>>()?,
            after_ns: moment("--changed-within", within.as_deref(), stored)?,
            before_ns: moment("--changed-before", before.as_deref(), stored)?,
            owner: (flags.owner.as_deref())
                .map(|text| OwnerFilter::parse(text, stored))
                .transpose()?,
        })
    }

    pub(crate) fn push_pattern(&mut self, pattern: NamePattern) {
        self.patterns.push(pattern);
    }

    /// Whether every entry passes.
    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
            && self.extensions.is_empty()
            && self.kinds.is_empty()
            && self.sizes.is_empty()
            && self.after_ns.is_none()
            && self.before_ns.is_none()
            && self.owner.is_none()
    }

    /// Whether directories alone pass.
    pub(crate) fn only_directories(&self) -> bool {
        !self.kinds.is_empty() && self.kinds.iter().all(|&kind| kind == FileType::Directory)
    }

    /// The filters as a sink takes them: the attributes that they read, and the test.
    /// Absent where every entry passes.
    #[expect(
        clippy::type_complexity,
        reason = "no alias can name the type of a closure"
    )]
    pub(crate) fn test(
        self,
    ) -> Option<(
        Fields,
        impl Fn(Option<&Directory<'_>>, &EntryRef<'_>) -> bool + Clone + Send + Sync + 'static,
    )> {
        let filters = (!self.is_empty()).then(|| Arc::new(self))?;
        let fields = filters.fields();
        let test = move |_: Option<&Directory<'_>>, entry: &EntryRef<'_>| {
            filters.pass(entry.name, &entry.attributes)
        };
        Some((fields, test))
    }

    /// The attributes that the filters read.
    ///
    /// A scan tells directories from the rest in any case, and where the listing has no
    /// types, that takes fewer stats than the types of all entries. Where it does not enter
    /// the deepest directories, it need not know them.
    pub(crate) fn fields(&self) -> Fields {
        let mut fields = Fields::NAME;
        if !self.kinds.is_empty() && !self.only_directories() {
            fields |= Fields::TYPE;
        }
        if !self.sizes.is_empty() {
            fields |= Fields::TYPE | Fields::SIZE;
        }
        if self.after_ns.is_some() || self.before_ns.is_some() {
            fields |= Fields::MTIME;
        }
        if self.owner.is_some() {
            fields |= Fields::OWNER;
        }
        fields
    }

    /// Whether an entry passes. The last component of a path is the name.
    pub(crate) fn pass(&self, path: &[u8], attributes: &Attributes) -> bool {
        let is_kind = self.kinds.is_empty() || self.kinds.contains(&attributes.kind);
        is_kind && self.pass_name(path) && self.pass_attributes(attributes)
    }

    pub(crate) fn pass_name(&self, path: &[u8]) -> bool {
        let name = base_name(path);
        let any_pattern = || self.patterns.iter().any(|pattern| pattern.fits(name));
        let any_extension = || self.extensions.iter().any(|extension| extension.fits(name));
        (self.patterns.is_empty() || any_pattern())
            && (self.extensions.is_empty() || any_extension())
    }

    pub(crate) fn pass_size(&self, size_bytes: u128) -> bool {
        self.sizes.iter().all(|size| size.matches(size_bytes))
    }

    /// Whether a newest modification passes the filters on times.
    pub(crate) fn pass_newest(&self, newest_ns: Option<i64>) -> bool {
        let within = |ns| newest_ns.is_some_and(|newest| newest >= ns);
        let before = |ns| newest_ns.is_some_and(|newest| newest < ns);
        self.after_ns.is_none_or(within) && self.before_ns.is_none_or(before)
    }

    fn pass_attributes(&self, attributes: &Attributes) -> bool {
        let of_file = || match attributes.kind {
            FileType::File => attributes.size_bytes(),
            _ => None,
        };
        let size = || of_file().is_some_and(|size_bytes| self.pass_size(size_bytes.into()));
        let within = |ns| attributes.mtime_order(ns).is_some_and(Ordering::is_ge);
        let before = |ns| attributes.mtime_order(ns).is_some_and(Ordering::is_lt);
        let owned = |owner: OwnerFilter| match (attributes.uid(), attributes.gid()) {
            (Some(uid), Some(gid)) => owner.fits(uid, gid),
            _ => false,
        };
        (self.sizes.is_empty() || size())
            && self.after_ns.is_none_or(within)
            && self.before_ns.is_none_or(before)
            && self.owner.is_none_or(owned)
    }
}

/// The last component of a path, without slashes at its end.
fn base_name(path: &[u8]) -> &[u8] {
    let end = path
        .iter()
        .rposition(|&byte| byte != b'/')
        .map_or(0, |at| at + 1);
    let path = &path[..end];
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) => &path[at + 1..],
        None => path,
    }
}

/// An extension as the end of a name, with something before it; `rs` and `.rs` are the
/// same.
#[derive(Clone, Debug)]
struct Extension {
    dotted: Vec<u8>,
    /// The same for names beyond ASCII. Absent if it is no UTF-8.
    pattern: Option<NamePattern>,
}

impl Extension {
    fn new(text: &OsString) -> Result<Extension, Failure> {
        let bytes = text.as_bytes();
        let dotted = [b".", bytes.strip_prefix(b".").unwrap_or(bytes)].concat();
        let pattern = str::from_utf8(&dotted).ok().map(NamePattern::end);
        let pattern = pattern.transpose();
        Ok(Extension {
            pattern: pattern.map_err(|reason| invalid("--extension", &shown_word(text), reason))?,
            dotted,
        })
    }

    /// Whether a name ends in it, in any case.
    fn fits(&self, name: &[u8]) -> bool {
        let start = name.len().saturating_sub(self.dotted.len());
        let is_end = start > 0 && name[start..].eq_ignore_ascii_case(&self.dotted);
        let of_characters = || (self.pattern.as_ref()).is_some_and(|pattern| pattern.fits(name));
        is_end || (!name.is_ascii() && of_characters())
    }
}

fn parse_kind(text: &str) -> Result<FileType, Failure> {
    Ok(match text {
        "f" | "file" => FileType::File,
        "d" | "dir" | "directory" => FileType::Directory,
        "l" | "symlink" => FileType::Symlink,
        "p" | "pipe" => FileType::Fifo,
        "s" | "socket" => FileType::Socket,
        "c" | "char-device" => FileType::CharDevice,
        "b" | "block-device" => FileType::BlockDevice,
        _ => {
            let types = "must be f file, d directory, l link, p pipe, s socket, c or b device";
            return Err(invalid("--type", text, types));
        }
    })
}

fn moment(
    flag: &str,
    text: Option<&str>,
    stored: Option<&StoredScan>,
) -> Result<Option<i64>, Failure> {
    // Only here the program looks at the clock and the time zone.
    text.map(|text| {
        let now = stored.map_or_else(jiff::Zoned::now, StoredScan::now);
        let moment = parse_moment(text, &now);
        moment.map_err(|error| invalid(flag, text, error))
    })
    .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_extension(extension: &str) -> Filters {
        Filters {
            extensions: vec![Extension::new(&extension.into()).unwrap()],
            ..Filters::default()
        }
    }

    #[test]
    fn extensions() {
        let check = |extension: &str, path: &str, expected| {
            let passes = with_extension(extension).pass_name(path.as_bytes());
            assert_eq!(passes, expected, "{extension} {path}");
        };
        check("rs", "a.RS", true);
        check(".rs", "a.rs", true);
        check("tar.gz", "x.tar.gz", true);
        check("rs", ".rs", false);
        check("rs", "ars", false);
        check("rs", "dir.rs/a", false);
        check("rs", "/x/dir.rs/", true);
        check("\u{e9}", "x.\u{c9}", true);
        check("\u{e9}", ".\u{c9}", false);
        check("rs", "\u{c9}.rS", true);
        check("rs", "\u{c9}.r", false);
    }

    #[test]
    fn the_last_component_is_the_name() {
        for (path, name) in [("/", ""), ("a", "a"), ("/a/b", "b"), ("b//", "b")] {
            assert_eq!(base_name(path.as_bytes()), name.as_bytes());
        }
    }

    #[test]
    fn what_is_not_known_does_not_pass() {
        let unknown = Attributes::of_type(FileType::File);
        let size = Filters {
            sizes: vec!["-1G".parse().unwrap()],
            ..Filters::default()
        };
        assert!(size.fields().need_stat() && !size.pass(b"a", &unknown));
        let before = Filters {
            before_ns: Some(i64::MAX),
            ..Filters::default()
        };
        assert!(!before.pass(b"a", &unknown));
        let kind = Filters {
            kinds: vec![FileType::File],
            ..Filters::default()
        };
        assert!(!kind.fields().need_stat() && kind.pass(b"a", &unknown));
        assert!(!kind.pass(b"a", &Attributes::of_type(FileType::Symlink)));
    }
}
