// SPDX-License-Identifier: MIT OR Apache-2.0

//! Patience with a name that is there and cannot be seen yet.
//!
//! An NFS client remembers for up to a minute that a name was missing. A name that another
//! machine made meanwhile stands in the listing, and an open still fails. So a folder is listed
//! before each try, and nobody looks for a name that no listing has.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// As long as a client of NFS remembers by default (acdirmax, nfs(5)), and half of it more.
const PATIENCE: Duration = Duration::from_secs(90);

/// The first pause. Each one is twice as long as that before, up to a second.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Waits until the names of a stored snapshot can be seen, which a listing has.
///
/// Its other files need no patience: a client asks the server for a name that nobody looked for.
pub(crate) fn settled(folder: &Path, manifest: &str) -> io::Result<()> {
    let wait = |path: &Path| patiently(path, || path.symlink_metadata().map(drop));
    wait(folder)?;
    wait(&folder.join(manifest))
}

/// Repeats what does not find a name, as long as the folder above lists that name.
fn patiently<T>(path: &Path, attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let deadline = Instant::now() + PATIENCE;
    let mut pause = PAUSE;
    repeated(attempt, || {
        if !is_listed(path) || Instant::now() >= deadline {
            return false;
        }
        thread::sleep(pause);
        pause = PAUSE_MAX.min(2 * pause);
        true
    })
}

/// Repeats what finds nothing, while `again` says so.
fn repeated<T>(
    mut attempt: impl FnMut() -> io::Result<T>,
    mut again: impl FnMut() -> bool,
) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::NotFound && again() => {}
            result => return result,
        }
    }
}

/// Whether the folder above a path lists its name.
fn is_listed(path: &Path) -> bool {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return false;
    };
    let above = match above.as_os_str().is_empty() {
        true => Path::new("."),
        false => above,
    };
    let listed = std::fs::read_dir(above);
    listed.is_ok_and(|all| all.flatten().any(|entry| entry.file_name() == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    use statwalk_testkit::Scratch;

    #[test]
    fn a_name_that_is_seen_late_is_found() {
        let scratch = Scratch::new().unwrap();
        std::fs::write(scratch.path().join("late"), "").unwrap();
        let tries = Cell::new(0);
        let found = patiently(&scratch.path().join("late"), || {
            tries.set(tries.get() + 1);
            match tries.get() {
                1..4 => Err(io::Error::from(ErrorKind::NotFound)),
                tries => Ok(tries),
            }
        });
        assert_eq!(found.unwrap(), 4);
    }

    #[test]
    fn a_name_that_is_not_listed_is_missing_at_once() {
        let scratch = Scratch::new().unwrap();
        let tries = Cell::new(0);
        let found = patiently(&scratch.path().join("missing"), || {
            tries.set(tries.get() + 1);
            Err::<(), _>(io::Error::from(ErrorKind::NotFound))
        });
        assert_eq!(found.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(tries.get(), 1);
    }

    #[test]
    fn patience_ends() {
        let left = Cell::new(5);
        let missing = || Err::<(), _>(io::Error::from(ErrorKind::NotFound));
        let found = repeated(missing, || {
            left.set(left.get() - 1);
            left.get() > 0
        });
        assert!(found.is_err() && left.get() == 0);
        // Another error needs none.
        let refused = || Err::<(), _>(io::Error::from(ErrorKind::PermissionDenied));
        assert!(repeated(refused, || panic!("it waited")).is_err());
    }
}
