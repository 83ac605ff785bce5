// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directories of the user for settings, state and data.
//!
//! Rules: the XDG Base Directory Specification 0.8, where a path that is not absolute does
//! not count. `sudo` and `su` can leave the variables of another user, and a file that the
//! program made there would belong to the wrong one. So where `HOME` belongs to another
//! user, the home is that of the effective user in the database of accounts.
//!
//! A home that is missing is none, and nothing makes it: `/nonexistent` says so on Debian.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use statwalk_sys::user;
use statwalk_view::{Charset, escape};

use crate::system::accounts;

/// `$XDG_CONFIG_HOME`, or `.config` in the home.
pub(crate) fn config() -> Option<PathBuf> {
    Facts::now().directory("XDG_CONFIG_HOME", ".config")
}

/// `$XDG_STATE_HOME`, or `.local/state` in the home.
pub(crate) fn state() -> Option<PathBuf> {
    Facts::now().directory("XDG_STATE_HOME", ".local/state")
}

/// `$XDG_DATA_HOME`, or `.local/share` in the home.
pub(crate) fn data() -> Option<PathBuf> {
    Facts::now().directory("XDG_DATA_HOME", ".local/share")
}

/// The store of snapshots: `statwalk` in `$XDG_DATA_HOME`, or in `.local/share` of the home. That of
/// root is a service of the machine, and lies in `/var/lib` where the variable does not say
/// otherwise.
#[cfg(feature = "snapshot")]
pub(crate) fn store() -> Option<PathBuf> {
    Facts::now().store()
}

/// `HOME`, also that of another user, and the home of the effective user. They are no items to
/// remove.
pub(crate) fn homes() -> [Option<PathBuf>; 2] {
    let facts = Facts::now();
    let named = facts.absolute("HOME");
    let own = facts.home().filter(|own| Some(own) != named.as_ref());
    [named, own]
}

/// The reason why there is no home, as the begin of a sentence.
pub(crate) fn no_home() -> String {
    match Facts::now().absolute("HOME") {
        Some(home) => {
            let home = escape(home.as_os_str().as_bytes(), Charset::Unicode);
            format!("the home {home} does not exist")
        }
        None => "the user has no home directory".to_owned(),
    }
}

/// No user has this number: setresuid(2). It stands for a user that is unknown, because a filter of
/// system calls refuses geteuid.
const NOBODY: u32 = u32::MAX;

/// The facts that decide on the places.
struct Facts<'a> {
    user: u32,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The owner of the directory that a path leads to; absent where it leads to none.
    owner: &'a dyn Fn(&Path) -> Option<u32>,
    /// The home of the user in the database of accounts.
    account: &'a dyn Fn(u32) -> Option<PathBuf>,
}

impl Facts<'_> {
    fn now() -> Facts<'static> {
        Facts {
            user: user::effective().unwrap_or(NOBODY),
            variable: &|name| env::var_os(name),
            owner: &|path| {
                let metadata = fs::metadata(path).ok()?;
                metadata.is_dir().then(|| metadata.uid())
            },
            account: &|user| {
                let home = PathBuf::from(OsString::from_vec(accounts::home(user)?));
                home.is_absolute().then_some(home)
            },
        }
    }

    fn absolute(&self, variable: &str) -> Option<PathBuf> {
        let path = PathBuf::from((self.variable)(variable)?);
        path.is_absolute().then_some(path)
    }

    fn home(&self) -> Option<PathBuf> {
        let named = self.absolute("HOME");
        named
            .filter(|home| !self.is_foreign_home(home))
            .or_else(|| (self.account)(self.user))
            .filter(|home| (self.owner)(home).is_some())
    }

    fn is_foreign_home(&self, home: &Path) -> bool {
        match (self.owner)(home) {
            Some(owner) => owner != self.user,
            None => self.is_foreign(home),
        }
    }

    /// Whether another user than root owns it, or would: the nearest directory above
    /// counts where it is missing.
    fn is_foreign(&self, path: &Path) -> bool {
        let owner = path.ancestors().find_map(|above| (self.owner)(above));
        owner.is_some_and(|owner| owner != self.user && owner != 0)
    }

    fn directory(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        self.set(variable)
            .or_else(|| Some(self.home()?.join(below_home)))
    }

    /// The place that a variable sets, where it is one for this user.
    fn set(&self, variable: &str) -> Option<PathBuf> {
        let named = self.absolute("HOME");
        let no_home =
            named.filter(|home| self.is_foreign_home(home) || (self.owner)(home).is_none());
        let is_below_none =
            |path: &Path| no_home.as_ref().is_some_and(|home| path.starts_with(home));
        let set = self.absolute(variable);
        set.filter(|path| !is_below_none(path) && !self.is_foreign(path))
    }
}

#[cfg(any(feature = "snapshot", test))]
impl Facts<'_> {
    fn store(&self) -> Option<PathBuf> {
        let data = match self.user {
            0 => self
                .set("XDG_DATA_HOME")
                .or_else(|| Some("/var/lib".into())),
            _ => self.directory("XDG_DATA_HOME", ".local/share"),
        };
        Some(data?.join("statwalk"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of `user` with these variables, where kim is 1000 and lee is 1001.
    fn state(user: u32, variables: &[(&str, &str)]) -> Option<String> {
        of(user, variables, |facts| {
            facts.directory("XDG_STATE_HOME", ".local/state")
        })
    }

    fn of(
        user: u32,
        variables: &[(&str, &str)],
        place: impl FnOnce(&Facts<'_>) -> Option<PathBuf>,
    ) -> Option<String> {
        let facts = Facts {
            user,
            variable: &|name| {
                let mut all = variables.iter();
                all.find(|(own, _)| *own == name)
                    .map(|(_, value)| OsString::from(*value))
            },
            owner: &|path| match path.to_str()? {
                "/" | "/home" | "/root" | "/srv" => Some(0),
                "/home/kim" | "/srv/kim" => Some(1000),
                "/home/lee" => Some(1001),
                _ => None,
            },
            account: &|user| match user {
                0 => Some("/root".into()),
                1000 => Some("/home/kim".into()),
                1001 => Some("/home/lee".into()),
                1002 => Some("/nonexistent".into()),
                _ => None,
            },
        };
        Some(place(&facts)?.to_str().unwrap().to_owned())
    }

    #[test]
    fn the_store_of_root_belongs_to_the_machine() {
        let store = |user, variables: &[(&str, &str)]| of(user, variables, |facts| facts.store());
        let kim = ("HOME", "/home/kim");
        let at = |user, variables: &[(&str, &str)]| store(user, variables).unwrap();
        assert_eq!(at(0, &[("HOME", "/root")]), "/var/lib/statwalk");
        assert_eq!(at(1000, &[kim]), "/home/kim/.local/share/statwalk");
        let set = ("XDG_DATA_HOME", "/srv/data");
        assert_eq!(at(0, &[set]), "/srv/data/statwalk");
        assert_eq!(at(1000, &[kim, set]), "/srv/data/statwalk");
        // `sudo` left the variables of kim.
        let of_kim = ("XDG_DATA_HOME", "/home/kim/data");
        assert_eq!(at(0, &[kim, of_kim]), "/var/lib/statwalk");
        assert_eq!(store(1002, &[]), None);
    }

    /// With `sudo`, `~/.local` of the user belonged to root, and no program of the user
    /// could write there any more.
    #[test]
    fn nothing_lies_below_the_home_of_another_user() {
        let kim = ("HOME", "/home/kim");
        let at = |user, variables: &[(&str, &str)]| state(user, variables).unwrap();
        assert_eq!(at(1000, &[kim]), "/home/kim/.local/state");
        assert_eq!(at(0, &[kim]), "/root/.local/state");
        assert_eq!(at(1001, &[kim]), "/home/lee/.local/state");
        assert_eq!(at(1000, &[("HOME", "/root")]), "/home/kim/.local/state");
        // A home that is missing would be made in a directory of kim.
        assert_eq!(at(0, &[("HOME", "/home/kim/new")]), "/root/.local/state");
        // Nor where the variable says so.
        for set in ["/home/kim/.state", "/srv/kim/state"] {
            let set = ("XDG_STATE_HOME", set);
            assert_eq!(at(0, &[kim, set]), "/root/.local/state");
            assert_eq!(at(1000, &[kim, set]), set.1);
        }
        let set = ("XDG_STATE_HOME", "/srv/state");
        assert_eq!(at(0, &[kim, set]), "/srv/state");
        assert_eq!(at(1000, &[set]), "/srv/state");
    }

    /// A removal made `/nonexistent`, with a journal in it.
    #[test]
    fn a_home_that_is_missing_is_never_made() {
        for home in ["/home/new", "/nonexistent", "/nonexistent/deep"] {
            for user in [0, 1000] {
                let home_is = ("HOME", home);
                assert_eq!(state(user, &[home_is]), None);
                let below = format!("{home}/state");
                assert_eq!(state(user, &[home_is, ("XDG_STATE_HOME", &below)]), None);
                let set = ("XDG_STATE_HOME", "/srv/state");
                assert_eq!(state(user, &[home_is, set]).as_deref(), Some(set.1));
            }
        }
        // The home of the account is missing.
        assert_eq!(state(1002, &[]), None);
    }

    #[test]
    fn a_path_that_is_not_absolute_does_not_count() {
        let state_of = |variables: &[(&str, &str)]| state(7, variables);
        assert_eq!(state_of(&[]), None);
        assert_eq!(
            state_of(&[("HOME", "kim"), ("XDG_STATE_HOME", "state")]),
            None
        );
        assert_eq!(state_of(&[("HOME", "/home/kim")]), None);
        let set = state(1000, &[("HOME", "/home/kim"), ("XDG_STATE_HOME", "state")]);
        assert_eq!(set.as_deref(), Some("/home/kim/.local/state"));
    }
}
