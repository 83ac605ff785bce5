// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names and numbers of users and groups.
//!
//! The local files first, and for what they do not know `getent`, which asks
//! whatever the system is set up to ask (LDAP, SSSD). The C library's own
//! functions would load such modules into this process, which the static program
//! of `cargo xtask dist` cannot do safely: getpwnam(3), and the linker's warning.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

/// A table of accounts: `/etc/passwd` or `/etc/group`, passwd(5), group(5).
pub(crate) struct Accounts {
    file: &'static str,
    /// The name by which getent knows the table.
    table: &'static str,
    known: Mutex<Option<Known>>,
}

#[derive(Default)]
struct Known {
    names: HashMap<u32, Option<Vec<u8>>>,
    numbers: HashMap<Vec<u8>, Option<u32>>,
}

pub(crate) static USERS: LazyLock<Accounts> = LazyLock::new(|| Accounts {
    file: "/etc/passwd",
    table: "passwd",
    known: Mutex::default(),
});

pub(crate) static GROUPS: LazyLock<Accounts> = LazyLock::new(|| Accounts {
    file: "/etc/group",
    table: "group",
    known: Mutex::default(),
});

impl Accounts {
    /// The name of an account, exact bytes; absent where nobody has the number.
    pub(crate) fn name(&self, number: u32) -> Option<Vec<u8>> {
        #[cfg(test)]
        if crate::system::clock::elsewhere::is_elsewhere() {
            return Some(b"somebody-else".to_vec());
        }
        self.with_known(|known| {
            let ask = || self.ask(number.to_string().as_bytes());
            let found = known.names.entry(number);
            found
                .or_insert_with(|| {
                    let (name, answered) = ask()?;
                    (answered == number).then_some(name)
                })
                .clone()
        })
    }

    /// The number of an account; absent where nobody has the name.
    pub(crate) fn number(&self, name: &[u8]) -> Option<u32> {
        self.with_known(|known| {
            let found = known.numbers.entry(name.to_vec());
            *found.or_insert_with(|| {
                // getent takes digits for a number, which the caller tries itself.
                let (answered, number) = self.ask(name)?;
                (answered == name).then_some(number)
            })
        })
    }

    fn with_known<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        look(known.get_or_insert_with(|| Known::of(&std::fs::read(self.file).unwrap_or_default())))
    }

    fn ask(&self, key: &[u8]) -> Option<(Vec<u8>, u32)> {
        account(self.answer(key)?.split(|&byte| byte == b'\n').next()?)
    }

    fn answer(&self, key: &[u8]) -> Option<Vec<u8>> {
        use std::os::unix::ffi::OsStrExt;
        let answer = Command::new("getent")
            .args(["--", self.table])
            .arg(std::ffi::OsStr::from_bytes(key))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        Some(answer.stdout)
    }
}

/// The name of a user, exact bytes; absent where nobody has the number.
pub(crate) fn user_name(uid: u32) -> Option<Vec<u8>> {
    USERS.name(uid)
}

/// The name of a group, exact bytes; absent where no group has the number.
pub(crate) fn group_name(gid: u32) -> Option<Vec<u8>> {
    GROUPS.name(gid)
}

/// The home of a user; absent where nobody has the number.
pub(crate) fn home(user: u32) -> Option<Vec<u8>> {
    let file = std::fs::read("/etc/passwd").unwrap_or_default();
    let local = home_in(&file, user);
    local.or_else(|| home_in(&USERS.answer(user.to_string().as_bytes())?, user))
}

/// The sixth field of the first line of a user in `/etc/passwd`.
fn home_in(text: &[u8], user: u32) -> Option<Vec<u8>> {
    let mut lines = text.split(|&byte| byte == b'\n');
    let own = lines.find(|line| account(line).is_some_and(|(_, number)| number == user))?;
    let home = own.split(|&byte| byte == b':').nth(5)?;
    (!home.is_empty()).then(|| home.to_vec())
}

impl Known {
    fn of(text: &[u8]) -> Known {
        let mut known = Known::default();
        for line in text.split(|&byte| byte == b'\n') {
            if let Some((name, number)) = account(line) {
                // The first line with a name or a number counts.
                let names = known.names.entry(number);
                names.or_insert_with(|| Some(name.clone()));
                known.numbers.entry(name).or_insert(Some(number));
            }
        }
        known
    }
}

/// Name and number in a line of either file: the first and the third field.
fn account(line: &[u8]) -> Option<(Vec<u8>, u32)> {
    let mut fields = line.split(|&byte| byte == b':');
    let name = fields.next().filter(|name| !name.is_empty())?;
    let number = std::str::from_utf8(fields.nth(1)?).ok()?.parse().ok()?;
    Some((name.to_vec(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_the_sixth_field() {
        let text = b"root:x:0:0:root:/root:/bin/sh\nkim:x:7:7::/home/kim:\nlee:x:8:8:::\nno:x:9";
        let home = |user| home_in(text, user);
        assert_eq!(home(0), Some(b"/root".to_vec()));
        assert_eq!(home(7), Some(b"/home/kim".to_vec()));
        assert_eq!((home(8), home(9), home(10)), (None, None, None));
    }

    #[test]
    fn lines_of_both_files_are_read() {
        let text =
            b"root:x:0:0:root:/root:/bin/sh\n\n# no account\nbad:x:many:\nsecond:x:0:\n\xff:x:7:";
        let known = Known::of(text);
        assert_eq!(known.names[&0], Some(b"root".to_vec()));
        assert_eq!(known.numbers[&b"second"[..]], Some(0));
        assert_eq!(known.names[&7], Some(b"\xff".to_vec()));
        assert_eq!(known.names.len(), 2);
    }

    #[test]
    fn the_system_is_asked() {
        assert_eq!(USERS.name(0), Some(b"root".to_vec()));
        assert_eq!(USERS.number(b"root"), Some(0));
        assert_eq!(USERS.name(3_999_999_999), None);
        assert_eq!(GROUPS.number(b"no-such-group-here"), None);
        assert_eq!(USERS.number(b"--help"), None);
    }
}
