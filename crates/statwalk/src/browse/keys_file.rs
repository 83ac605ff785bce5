// SPDX-License-Identifier: MIT OR Apache-2.0

//! The keys that the user sets, from `$XDG_CONFIG_HOME/statwalk/keys.toml`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use statwalk_browse::Keymap;

use crate::failure::{Failure, reason};
use crate::request::safe;

/// The keys of ncdu, but for those that the user sets.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or has a line without a meaning.
pub(crate) fn read() -> Result<Keymap, Failure> {
    let mut keymap = Keymap::default();
    let Some(path) = path() else {
        return Ok(keymap);
    };
    let name = safe(&path.to_string_lossy());
    match fs::read_to_string(&path) {
        Ok(text) => set(&mut keymap, &text)
            .map_err(|error| Failure::Usage(format!("{name}: {}", safe(&error))))?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            let reason = reason(&error);
            return Err(Failure::Usage(format!("cannot read {name}: {reason}")));
        }
    }
    Ok(keymap)
}

/// As the XDG Base Directory Specification 0.8 has it: a path that is not absolute does
/// not count.
fn path() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).map(PathBuf::from);
    let set = variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let home = variable("HOME").filter(|path| path.is_absolute());
    let config = set.or_else(|| home.map(|home| home.join(".config")))?;
    Some(config.join(Path::new("statwalk/keys.toml")))
}

fn set(keymap: &mut Keymap, text: &str) -> Result<(), String> {
    let lines: BTreeMap<String, Vec<String>> =
        toml::from_str(text).map_err(|error| error.message().to_owned())?;
    for (action, keys) in lines {
        keymap
            .set(&action, &keys)
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_can_be_set() {
        let mut keymap = Keymap::default();
        set(
            &mut keymap,
            "sort-size = [\"z\", \"ctrl-s\"]\n# quit\nquit = []\n",
        )
        .unwrap();
    }

    #[test]
    fn a_line_without_meaning_is_an_error() {
        let error = |text| set(&mut Keymap::default(), text).unwrap_err();
        assert_eq!(
            error("sort-colour = [\"a\"]"),
            "there is no action 'sort-colour'"
        );
        assert_eq!(error("quit = [\"shift-q\"]"), "there is no key 'shift-q'");
        assert!(!error("quit = 7").is_empty());
        assert!(!error("quit").is_empty());
    }
}
