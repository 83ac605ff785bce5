// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names and numbers of users and groups.
//!
//! The local files first, and for what they do not know `getent`, which asks
//! whatever the system is set up to ask (LDAP, SSSD). The C library's own
//! functions would load such modules into this process, which the static program
//! of `cargo xtask dist` cannot do safely: getpwnam(3), and the linker's warning.

use std::collections::HashMap;
use std::io::Read as _;
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

/// How many accounts are asked for at once: a tenth of what 128 KiB of arguments hold.
const KEYS_MAX: usize = 1000;

/// An account that every system has: root, as a user and as a group.
const LAST: u32 = 0;

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

    /// Asks for the names of many accounts at once. Without it each costs a process.
    pub(crate) fn learn(&self, numbers: impl IntoIterator<Item = u32>) {
        self.with_known(|known| {
            let numbers = numbers.into_iter();
            let new = numbers.filter(|number| !known.names.contains_key(number));
            let new: Vec<u32> = new.collect();
            for some in new.chunks(KEYS_MAX) {
                let keys = some.iter().chain([&LAST]).map(u32::to_string);
                let answer = self.answer(keys.map(String::into_bytes));
                let Some(names) = answer.and_then(|answer| names_in(&answer, some)) else {
                    return;
                };
                known.names.extend(names);
            }
        });
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
        let answer = self.answer([key.to_vec()])?;
        account(answer.split(|&byte| byte == b'\n').next()?)
    }

    fn answer(&self, keys: impl IntoIterator<Item = Vec<u8>>) -> Option<Vec<u8>> {
        use std::os::unix::ffi::OsStringExt;
        let mut getent = Command::new("getent")
            .args(["--", self.table])
            .args(keys.into_iter().map(std::ffi::OsString::from_vec))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        // `Command::output` panics where the answer cannot be read.
        let mut answer = Vec::new();
        let read = getent.stdout.take()?.read_to_end(&mut answer);
        getent.wait().and(read).ok().map(|_| answer)
    }
}

/// The names of these numbers in an answer of getent; absent where it has left some out.
///
/// One that the system does not know has no line. That of glibc goes on then, and that of
/// NetBSD, which Alpine has, stops. So [`LAST`] was asked for behind them.
fn names_in(answer: &[u8], numbers: &[u32]) -> Option<HashMap<u32, Option<Vec<u8>>>> {
    let found = Known::of(answer).names;
    let lines = answer.trim_ascii_end().rsplit(|&byte| byte == b'\n');
    let (_, last) = lines.map(account).next()??;
    let names = numbers
        .iter()
        .map(|number| (*number, found.get(number).cloned().flatten()));
    (last == LAST).then(|| names.collect())
}

/// The name of a user, exact bytes; absent where nobody has the number.
pub(crate) fn user_name(uid: u32) -> Option<Vec<u8>> {
    USERS.name(uid)
}

/// The name of a user, as far as it is text.
pub(crate) fn user_text(uid: u32) -> Option<String> {
    user_name(uid).map(|name| String::from_utf8_lossy(&name).into_owned())
}

/// The name of a group, exact bytes; absent where no group has the number.
pub(crate) fn group_name(gid: u32) -> Option<Vec<u8>> {
    GROUPS.name(gid)
}

/// The home of a user; absent where nobody has the number.
pub(crate) fn home(user: u32) -> Option<Vec<u8>> {
    let file = std::fs::read("/etc/passwd").unwrap_or_default();
    let local = home_in(&file, user);
    local.or_else(|| home_in(&USERS.answer([user.to_string().into_bytes()])?, user))
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
    fn an_answer_about_many_is_whole_or_none() {
        let names = |text: &[u8]| names_in(text, &[7, 9, 8]);
        let some = |name: &[u8]| Some(name.to_vec());
        let root = b"root:x:0:0::/root:/bin/sh\n";
        let both = [&b"kim:x:7:7:::\nlee:x:8:8:::\n"[..], root].concat();
        let known = HashMap::from([(7, some(b"kim")), (9, None), (8, some(b"lee"))]);
        assert_eq!(names(&both), Some(known));
        assert_eq!(
            names(root),
            Some(HashMap::from([(7, None), (9, None), (8, None)]))
        );
        // It has stopped.
        assert_eq!(names(b"kim:x:7:7:::\n"), None);
        assert_eq!(names(b""), None);
    }

    #[test]
    fn many_are_asked_for_at_once_and_are_the_same() {
        for accounts in [&USERS, &GROUPS] {
            let numbers = (0..2_500).map(|number| number * 1_000_003 % 70_000);
            let numbers = numbers.chain([1, 2, 65_534]);
            let learned = Accounts {
                file: accounts.file,
                table: accounts.table,
                // As if the file were empty.
                known: Mutex::new(Some(Known::default())),
            };
            learned.learn(numbers.clone());
            let known = learned.known.into_inner().unwrap().unwrap();
            assert!(known.names[&1].is_some());
            for number in numbers.filter(|number| number % 100 < 2) {
                assert_eq!(known.names[&number], accounts.name(number), "{number}");
            }
        }
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
