// SPDX-License-Identifier: MIT OR Apache-2.0

//! The choices of the user in `$XDG_CONFIG_HOME/statwalk/keys.toml`: keys, and whether
//! items may be removed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use statwalk_browse::Keymap;
use toml::{Spanned, Value};

use crate::failure::Failure;
use crate::request::safe;
use crate::system::places;
use crate::system::stdio::reason;

/// The choices of the user.
#[derive(Debug, Default)]
pub(crate) struct KeysFile {
    /// The keys of ncdu, but for those that the user sets.
    pub(crate) keymap: Keymap,
    /// Whether items may be removed.
    pub(crate) enables_delete: bool,
}

/// The line that allows to remove items.
const ENABLE_DELETE: &str = "enable-delete";

/// More than all keys of all actions need.
const BYTES_MAX: u64 = 1 << 20;

/// Reads the file; without one, nothing is set.
///
/// Returns an error if the file cannot be read, or has a line without a meaning.
pub(crate) fn read() -> Result<KeysFile, Failure> {
    let mut own = KeysFile::default();
    let Some(path) = path() else {
        return Ok(own);
    };
    let name = safe(&path.to_string_lossy());
    match text_of(&path) {
        Ok(text) => set(&mut own, &text)
            .map_err(|error| Failure::Usage(format!("{name}{}", safe(&error))))?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            let reason = reason(&error);
            return Err(Failure::Usage(format!("cannot read {name}: {reason}")));
        }
    }
    Ok(own)
}

fn path() -> Option<PathBuf> {
    Some(places::config()?.join("statwalk/keys.toml"))
}

/// The text of a file of moderate size. A FIFO would hang, and a device have no end.
fn text_of(path: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    file.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(io::Error::other("larger than 1 MiB"));
    }
    Ok(text)
}

/// Takes over what a text sets. The error begins with the line, behind the name of the file.
fn set(own: &mut KeysFile, text: &str) -> Result<(), String> {
    let at_line = |span: Option<Range<usize>>, message: &str| {
        let before = span.and_then(|span| text.get(..span.start));
        let line = before.map(|before| 1 + before.matches('\n').count());
        let place = line.map_or_else(String::new, |line| format!(", line {line}"));
        format!("{place}: {message}")
    };
    let lines: BTreeMap<String, Spanned<Value>> =
        toml::from_str(text).map_err(|error| at_line(error.span(), error.message()))?;
    for (action, value) in lines {
        let wrong = |message: &str| at_line(Some(value.span()), message);
        if action == ENABLE_DELETE {
            let is_on = value.as_ref().as_bool();
            own.enables_delete = is_on.ok_or_else(|| wrong("enable-delete is true or false"))?;
            continue;
        }
        let keys = (value.as_ref().as_array()).and_then(|keys| {
            let texts = keys.iter().map(|key| key.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<String>>>()
        });
        // An action that does not exist needs nothing.
        let set = own.keymap.set(&action, keys.as_deref().unwrap_or_default());
        set.map_err(|error| wrong(&error.to_string()))?;
        if keys.is_none() {
            return Err(wrong(&format!("{action} needs a list of keys")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_can_be_set() {
        let mut own = KeysFile::default();
        set(
            &mut own,
            "sort-size = [\"z\", \"ctrl-s\"]\n# quit\nquit = []\n",
        )
        .unwrap();
        assert!(!own.enables_delete);
        set(&mut own, "enable-delete = true").unwrap();
        assert!(own.enables_delete);
    }

    #[test]
    fn a_line_without_meaning_is_an_error() {
        let error = |text: &str| set(&mut KeysFile::default(), text).unwrap_err();
        assert_eq!(
            error("sort-colour = [\"a\"]"),
            ", line 1: there is no action 'sort-colour'"
        );
        assert_eq!(
            error("\n# keys\nquit = [\"shift-q\"]"),
            ", line 3: there is no key 'shift-q'"
        );
        assert_eq!(error("quit = true"), ", line 1: quit needs a list of keys");
        assert_eq!(
            error("enable-delete = [\"d\"]"),
            ", line 1: enable-delete is true or false"
        );
        for value in ["7", "\"s\"", "[1]", "[[\"s\"]]", "{}"] {
            let message = error(&format!("up = []\nquit = {value}"));
            assert_eq!(message, ", line 2: quit needs a list of keys", "{value}");
        }
        assert!(error("up = []\nquit").starts_with(", line 2: "));
        assert_eq!(
            error("[quit]\na = 1"),
            ", line 1: quit needs a list of keys"
        );
    }
}
