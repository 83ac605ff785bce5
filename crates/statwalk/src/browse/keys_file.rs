// SPDX-License-Identifier: MIT OR Apache-2.0

//! The choices of the user in `$XDG_CONFIG_HOME/statwalk/keys.toml`: keys, and whether
//! items may be removed.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use serde::Deserialize;
use statwalk_browse::Keymap;

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

/// A line of the file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Keys(Vec<String>),
    Switch(bool),
}

/// The line that allows to remove items.
const ENABLE_DELETE: &str = "enable-delete";

/// Reads the file; without one, nothing is set.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or has a line without a meaning.
pub(crate) fn read() -> Result<KeysFile, Failure> {
    let mut own = KeysFile::default();
    let Some(path) = path() else {
        return Ok(own);
    };
    let name = safe(&path.to_string_lossy());
    match fs::read_to_string(&path) {
        Ok(text) => set(&mut own, &text)
            .map_err(|error| Failure::Usage(format!("{name}: {}", safe(&error))))?,
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

fn set(own: &mut KeysFile, text: &str) -> Result<(), String> {
    let lines: BTreeMap<String, Line> =
        toml::from_str(text).map_err(|error| error.message().to_owned())?;
    for (action, line) in lines {
        match (line, &action[..]) {
            (Line::Switch(is_on), ENABLE_DELETE) => own.enables_delete = is_on,
            (Line::Keys(keys), action) if action != ENABLE_DELETE => {
                let set = own.keymap.set(action, &keys);
                set.map_err(|error| error.to_string())?;
            }
            (Line::Keys(_), action) => return Err(format!("{action} is true or false")),
            (Line::Switch(_), action) => return Err(format!("{action} needs a list of keys")),
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
        let error = |text| set(&mut KeysFile::default(), text).unwrap_err();
        assert_eq!(
            error("sort-colour = [\"a\"]"),
            "there is no action 'sort-colour'"
        );
        assert_eq!(error("quit = [\"shift-q\"]"), "there is no key 'shift-q'");
        assert_eq!(error("quit = true"), "quit needs a list of keys");
        assert_eq!(
            error("enable-delete = [\"d\"]"),
            "enable-delete is true or false"
        );
        assert!(!error("quit = 7").is_empty());
        assert!(!error("quit").is_empty());
    }
}
