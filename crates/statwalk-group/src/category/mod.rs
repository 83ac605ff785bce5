// SPDX-License-Identifier: MIT OR Apache-2.0

//! The category of a file, by its name alone.
//!
//! No file is opened: a name can lie. `table.rs` has the names and their origin.

mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use crate::extension::{Extension, Parts};

/// The kind of content that the name of a file promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Category {
    /// Pictures: `png`, `jpg`, `svg`.
    Image,
    /// Films and subtitles: `mp4`, `mkv`.
    Video,
    /// Sound and music: `flac`, `mp3`.
    Audio,
    /// Archives and compressed files: `tar.gz`, `zip`.
    Archive,
    /// Texts, tables and slides for people: `pdf`, `odt`, `md`, manual pages.
    Document,
    /// Programs as people write them: `c`, `rs`, `py`, `Makefile`.
    Source,
    /// Programs as compilers write them: `o`, `so`, `pyc`, `exe`.
    Object,
    /// Disks of virtual machines and containers: `qcow2`, `vmdk`, `iso`.
    Machine,
    /// Databases and their dumps: `sqlite`, `ibd`, `sql`.
    Database,
    /// Logs, rotated ones too: `log`, `log.2.gz`, `syslog.1`.
    Log,
    /// Caches that say so: `cache`.
    Cache,
    /// Software to install: `deb`, `rpm`, `whl`, `jar`.
    Package,
    /// Fonts: `ttf`, `woff2`.
    Font,
    /// Pages and their styles: `html`, `css`.
    Web,
    /// Data for programs: `csv`, `json`, `parquet`, `h5`.
    Data,
    /// Weights of neural networks: `safetensors`, `gguf`.
    Model,
    /// Settings: `conf`, `toml`, `yaml`, `service`.
    Configuration,
    /// Keys, certificates and signatures: `pem`, `gpg`, `id_rsa`.
    Key,
    /// Backups of editors and package managers, and unfinished downloads: `bak`, `~`, `part`.
    Temporary,
    /// Messages and mailboxes: `eml`, `mbox`.
    Mail,
    /// Constructions and bodies in space: `dwg`, `stl`, `blend`.
    Design,
    /// Files with an extension that statwalk does not know.
    Other,
    /// Files without an extension whose whole name statwalk does not know either.
    NoExtension,
}

impl Category {
    /// Returns the category of a file with this name, which can be a path.
    ///
    /// A compressed file belongs to the category of its content where the name tells that:
    /// `dump.sql.gz` is a database, and `backup.gz` an archive. A number at the end of a
    /// name is a rotated log's, a shared library's, or the section of a manual page.
    ///
    /// ```
    /// use statwalk_group::Category;
    /// assert_eq!(Category::of_name(b"holiday.JPG"), Category::Image);
    /// assert_eq!(Category::of_name(b"home.tar.zst"), Category::Archive);
    /// assert_eq!(Category::of_name(b"libc.so.6"), Category::Object);
    /// assert_eq!(Category::of_name(b"auth.log.2.gz"), Category::Log);
    /// assert_eq!(Category::of_name(b"ls.1.gz"), Category::Document);
    /// ```
    #[must_use]
    pub fn of_name(name: &[u8]) -> Category {
        Category::and_extension_of_name(name).0
    }

    /// Returns the category of a file with this name, and the extension by which it is
    /// grouped: [`Category::of_name`] and [`Extension::of_name`] in one.
    ///
    /// ```
    /// use statwalk_group::{Category, Extension};
    /// let (category, extension) = Category::and_extension_of_name(b"home.tar.gz");
    /// assert_eq!(category, Category::Archive);
    /// assert_eq!(extension, Extension::of_name(b"home.tar.gz"));
    /// ```
    #[must_use]
    pub fn and_extension_of_name(name: &[u8]) -> (Category, Extension) {
        Category::and_extension(name, Extension::last_of(name))
    }

    /// Its number, in the order of the variants.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Its name for people, in the plural: a new category must have one of its own.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.texts().1
    }

    /// Its name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.texts().0
    }

    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Category::Image => ("image", "images"),
            Category::Video => ("video", "video"),
            Category::Audio => ("audio", "audio"),
            Category::Archive => ("archive", "archives"),
            Category::Document => ("document", "documents"),
            Category::Source => ("source", "source code"),
            Category::Object => ("object", "object files and libraries"),
            Category::Machine => ("machine", "virtual machines and containers"),
            Category::Database => ("database", "databases"),
            Category::Log => ("log", "logs"),
            Category::Cache => ("cache", "caches"),
            Category::Package => ("package", "packages"),
            Category::Font => ("font", "fonts"),
            Category::Web => ("web", "web pages"),
            Category::Data => ("data", "data"),
            Category::Model => ("model", "AI models"),
            Category::Configuration => ("configuration", "configuration"),
            Category::Key => ("key", "keys and certificates"),
            Category::Temporary => ("temporary", "backups and temporary files"),
            Category::Mail => ("mail", "mail"),
            Category::Design => ("design", "drawings and 3D models"),
            Category::Other => ("other", "other"),
            Category::NoExtension => ("no_extension", "no extension"),
        }
    }

    /// Both for a name whose last extension is known.
    ///
    /// Names that need no extension before it ([`Extension::needs_the_one_before`]) and have
    /// a dot within have the same category where all behind that dot is the same.
    pub(crate) fn and_extension(name: &[u8], last: Extension) -> (Category, Extension) {
        if last != Extension::NONE && !last.needs_the_one_before() {
            return (Category::of_parts(&Parts::of_one(last)), last);
        }
        let name = match name.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => &name[slash + 1..],
            None => name,
        };
        if last == Extension::NONE {
            return (Category::without_extension(name), last);
        }
        let parts = Parts::with_last(name, last);
        (Category::of_parts(&parts), parts.extension())
    }

    /// The category of a name with an extension.
    fn of_parts(parts: &Parts<'_>) -> Category {
        if let Some(&category) = KNOWN.extensions.get(&parts.content) {
            return category;
        }
        let is_compressed = parts.compression != Extension::NONE;
        let has_number = parts.content.is_number();
        if (has_number || is_compressed) && is_name_of_log(parts.stem) {
            return Category::Log;
        }
        // Compressed versions of programs are rare: `python3.9`, `bzip2.1.gz`.
        let is_version = has_number && !is_compressed && parts.stem.last().is_some_and(is_digit);
        if is_manual_section(parts.content) && !is_version {
            return Category::Document;
        }
        match is_compressed {
            true => Category::Archive,
            false => Category::Other,
        }
    }

    fn without_extension(name: &[u8]) -> Category {
        if let Some(&category) = KNOWN.names.get(name) {
            return category;
        }
        // Editors keep versions so: `notes.txt~`, `#notes.txt#`.
        match name {
            [.., b'~'] | [b'#', .., b'#'] => Category::Temporary,
            _ => Category::NoExtension,
        }
    }
}

impl Extension {
    /// Returns whether the table of categories has it, or each part of one such as `tar.gz`.
    ///
    /// Any other can be a name: `crontab.kim` ends with that of a user.
    ///
    /// ```
    /// use statwalk_group::Extension;
    /// let is_known = |name: &str| Extension::of_name(name.as_bytes()).is_known();
    /// assert!(is_known("home.tar.gz") && is_known("ls.1.gz"));
    /// assert!(!is_known("crontab.kim") && !is_known("Makefile"));
    /// ```
    #[must_use]
    pub fn is_known(self) -> bool {
        // The section of a manual page has one digit.
        let is_part = |part: &[u8]| match part {
            [byte] if is_digit(byte) => true,
            part => str::from_utf8(part)
                .is_ok_and(|part| KNOWN.extensions.contains_key(&Extension::new(part))),
        };
        self != Extension::NONE && self.to_vec().split(|&byte| byte == b'.').all(is_part)
    }
}

/// The tables, ready for questions.
struct Known {
    extensions: HashMap<Extension, Category, RandomState>,
    names: HashMap<&'static [u8], Category, RandomState>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| Known {
    extensions: words(table::EXTENSIONS)
        .map(|(category, word)| (Extension::new(word), category))
        .collect(),
    names: words(table::NAMES)
        .map(|(category, word)| (word.as_bytes(), category))
        .collect(),
});

fn words(
    rows: &'static [(Category, &'static str)],
) -> impl Iterator<Item = (Category, &'static str)> {
    rows.iter()
        .flat_map(|&(category, words)| words.split(' ').map(move |word| (category, word)))
}

fn is_name_of_log(name: &[u8]) -> bool {
    KNOWN.names.get(name) == Some(&Category::Log)
}

fn is_digit(byte: &u8) -> bool {
    byte.is_ascii_digit()
}

/// The letters behind the section of a manual page: those that packages of Debian use.
const SECTION_LETTERS: [&str; 24] = [
    "", "p", "pm", "perl", "x", "ssl", "ossl", "tcl", "tk", "posix", "readline", "ncurses",
    "curses", "caml", "erl", "qt", "am", "head", "type", "const", "cxx", "gcc", "t", "blt",
];

/// Whether an extension is the section of a manual page: `1`, `3pm`.
fn is_manual_section(extension: Extension) -> bool {
    match &extension.to_vec()[..] {
        [b'1'..=b'9', letters @ ..] => {
            let mut known = SECTION_LETTERS.iter();
            known.any(|known| known.as_bytes() == letters)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn each_word_of_the_tables_stands_once_and_can_be_found() {
        let mut seen = BTreeMap::new();
        for (category, word) in words(table::EXTENSIONS) {
            assert_eq!(seen.insert(word, category), None, "{word} stands twice");
            let name = format!("a.{word}");
            let extension = Extension::last_of(name.as_bytes());
            assert_eq!(extension, Extension::new(word), "{word}");
            assert_eq!(Category::of_name(name.as_bytes()), category, "{word}");
        }
        let mut seen = BTreeMap::new();
        for (category, word) in words(table::NAMES) {
            assert_eq!(seen.insert(word, category), None, "{word} stands twice");
            // Names with a dot within are cached by the part behind it.
            assert!(!word[1..].contains('.'), "{word}");
            let path = format!("some/dir.d/{word}");
            assert_eq!(Category::of_name(path.as_bytes()), category, "{word}");
        }
    }

    /// A new category was shown as a second "other" wherever somebody forgot its label.
    #[test]
    fn each_category_has_its_own_label() {
        let known = words(table::EXTENSIONS).chain(words(table::NAMES));
        let mut all: Vec<Category> = known.map(|(category, _)| category).collect();
        all.extend([Category::Other, Category::NoExtension]);
        all.sort_unstable();
        all.dedup();
        let distinct = |text: fn(Category) -> &'static str| {
            let texts: std::collections::BTreeSet<_> = all.iter().map(|one| text(*one)).collect();
            texts.len()
        };
        assert_eq!(distinct(Category::label), all.len());
        assert_eq!(distinct(Category::name), all.len());
    }

    #[test]
    fn names_have_categories() {
        use Category::*;
        for (name, expected) in [
            ("a.PNG", Image),
            ("a.svg.gz", Image),
            ("a.tar.gz", Archive),
            ("a.gz", Archive),
            ("a.unknown.gz", Archive),
            ("a.tar", Archive),
            ("a.sql.xz", Database),
            ("a.ko.zst", Object),
            ("libc.so.6", Object),
            ("libpython3.so.1.0", Object),
            ("python3.9", Other),
            ("python3.11", Other),
            ("ls.1", Document),
            ("ls.1.gz", Document),
            ("bzip2.1.gz", Document),
            ("open.3perl.gz", Document),
            ("open.3pm", Document),
            ("open.3thing", Other),
            ("a.0", Other),
            ("auth.log", Log),
            ("auth.log.1", Log),
            ("auth.log.12.gz", Log),
            ("auth.log-20261101", Log),
            ("auth.log-20261101.xz", Log),
            ("syslog", Log),
            ("syslog.1", Log),
            ("syslog.2.gz", Log),
            ("messages.gz", Log),
            ("dir/syslog.2.gz", Log),
            ("notes.txt~", Temporary),
            ("#notes#", Temporary),
            ("Makefile", Source),
            ("makefile.unknown", Other),
            (".bashrc", Configuration),
            (".config.json", Data),
            ("README", Document),
            ("readme", NoExtension),
            ("", NoExtension),
            ("#", NoExtension),
            ("~", Temporary),
            ("a.b c", NoExtension),
            ("/tmp/a.d/plain", NoExtension),
        ] {
            assert_eq!(Category::of_name(name.as_bytes()), expected, "{name}");
        }
    }
}
