// SPDX-License-Identifier: MIT OR Apache-2.0

//! A file that is written whole or not at all.
//!
//! The file has no name until it is on the disk (`O_TMPFILE`, open(2)). So a full disk, a
//! signal or a crash leaves nothing behind. Where the file system has no such files, it has
//! a name of its own until then.
//!
//! The directory is open from the begin to the end. A scan between them can take minutes,
//! and another directory or a link that takes this name meanwhile gets nothing.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    Access, AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, XattrFlags,
};
use rustix::io::Errno;
use statwalk_sys::user;

use crate::system::stdio::{self, INTERRUPTIONS_MAX};
use crate::system::{random, signals};

/// The links that one path can lead through, as in the kernel (path_resolution(7)).
const LINKS_MAX: u32 = 40;

/// The tries to find a name that is free. Other users can take names, but not guess them.
const NAMES_MAX: u32 = 16;

/// The access list of a file, in the form of the kernel (acl(5)).
const ACCESS_LIST: &str = "system.posix_acl_access";

/// An access list has at most 65,536 bytes: the limit of an extended attribute (xattr(7)).
const ACCESS_LIST_MAX: usize = 1 << 16;

/// The treatment of a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It stays, and nothing is written.
    Kept,
    /// The new file takes its place, mode and owner, if it is a regular file.
    Replaced,
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct WholeFile {
    /// As the user gave it.
    path: PathBuf,
    /// The place that it will have.
    place: Place,
    existing: Existing,
    /// The file to replace, as it was at the begin.
    replaced: Option<Replaced>,
    /// Absent until the first write, where the file system has no files without names.
    file: Option<File>,
    /// The name of a file that is not whole. It goes with this value.
    temporary: Option<OsString>,
}

/// A name in an open directory.
#[derive(Debug)]
struct Place {
    directory: OwnedFd,
    name: OsString,
}

/// The rights of a file that another one replaces.
#[derive(Debug)]
struct Replaced {
    mode: Mode,
    owner: (u32, u32),
    access_list: Option<Vec<u8>>,
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(name) = &self.temporary {
            // The first error counts.
            let _ = take_back(&self.place.directory, name);
        }
    }
}

/// How many files of one name may stand beside each other.
const NUMBER_MAX: u32 = 999;

impl WholeFile {
    /// Begins a file of this name. Where there is one that is kept, the new one has a number: a
    /// report of before stays beside that of after.
    pub(crate) fn begin_numbered(
        plain: &Path,
        existing: Existing,
    ) -> io::Result<(WholeFile, PathBuf)> {
        let mut path = plain.to_owned();
        let mut number = 1;
        loop {
            match WholeFile::begin(&path, existing) {
                Ok(file) => return Ok((file, path)),
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && number < NUMBER_MAX =>
                {
                    number += 1;
                    let mut name = plain.file_stem().unwrap_or_default().to_owned();
                    name.push(format!("-{number}."));
                    name.push(plain.extension().unwrap_or_default());
                    path = plain.with_file_name(name);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Begins a file. Nothing of it can be seen yet.
    pub(crate) fn begin(path: &Path, existing: Existing) -> io::Result<WholeFile> {
        signals::let_large_writes_fail();
        let mut place = Place::of(CWD, path.as_os_str())?;
        let mut found = place.look()?;
        let mut replaced = None;
        for links in 0.. {
            let Some(entry) = found else {
                if links > 0 {
                    // The file that a link names is not made.
                    return Err(Errno::NOENT.into());
                }
                break;
            };
            if existing == Existing::Kept {
                return Err(Errno::EXIST.into());
            }
            if !entry.is_link() {
                replaced = Some(entry.rights()?);
                break;
            }
            if links == LINKS_MAX {
                return Err(Errno::LOOP.into());
            }
            // The link stays, and the file behind it is replaced.
            place = place.behind(&entry)?;
            found = place.look()?;
        }
        let file = nameless(&place.directory, mode_at_first(replaced.as_ref()))?;
        Ok(WholeFile {
            path: path.to_owned(),
            place,
            existing,
            replaced,
            file,
            temporary: None,
        })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = self.file()?;
        let mut rest = bytes;
        while !rest.is_empty() {
            match stdio::write(file, rest)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => rest = &rest[count..],
            }
        }
        Ok(())
    }

    /// The file, which gets a name where it cannot be without one.
    fn file(&mut self) -> io::Result<BorrowedFd<'_>> {
        if self.file.is_none() {
            let mode = mode_at_first(self.replaced.as_ref());
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let directory = &self.place.directory;
            let (file, name) =
                with_free_name(|name| steady(|| rustix::fs::openat(directory, name, flags, mode)))?;
            self.temporary = Some(name);
            self.file = Some(File::from(file));
        }
        let file = self.file.as_ref().expect("it was made just now");
        Ok(file.as_fd())
    }

    /// Gives the file its name, when it is on the disk. Answers with its path: the one of
    /// the user, or where the directory is now.
    ///
    /// Returns an error if the disk does not take the rest, or if a file of this name has
    /// come meanwhile and stays. Then there is no new file.
    pub(crate) fn finish(mut self) -> io::Result<PathBuf> {
        self.file()?;
        let file = self.file.take().expect("it was made just now");
        if self.existing == Existing::Replaced
            && let Some(entry) = self.place.look()?
        {
            // It may be another one than at the begin.
            self.replaced = Some(entry.rights()?);
        }
        if let Some(replaced) = &self.replaced {
            replaced.give_to(&file)?;
        }
        file.sync_all()?;
        let Place { directory, name } = &self.place;
        match (self.existing, &self.temporary) {
            (Existing::Kept, None) => give_name(&file, directory, name)?,
            (Existing::Kept, Some(temporary)) => {
                move_beside(directory, temporary, name)?;
                self.temporary = None;
            }
            (Existing::Replaced, temporary) => {
                if temporary.is_none() {
                    let named = with_free_name(|name| give_name(&file, directory, name));
                    self.temporary = Some(named?.1);
                }
                let temporary = self.temporary.as_ref().expect("it has a name by now");
                put_over(directory, temporary, name)?;
                self.temporary = None;
            }
        }
        // The name, too. A file system that cannot sync a directory has done what it can.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let _ = steady(|| rustix::fs::openat(directory, ".", flags, Mode::empty()))
            .map(rustix::fs::fsync);
        Ok(self.path_of(&file))
    }

    /// The path that leads to the file: after a move of the directory it is another one.
    fn path_of(&self, file: &File) -> PathBuf {
        let identity = |data: fs::Metadata| (data.dev(), data.ino());
        let there = self.path.metadata().map(identity).ok();
        if there.is_some() && there == file.metadata().map(identity).ok() {
            return self.path.clone();
        }
        match fs::read_link(link_to(&self.place.directory)) {
            Ok(directory) => directory.join(&self.place.name),
            Err(_) => self.path.clone(),
        }
    }
}

/// An entry that is held by a descriptor, so that no other one takes its place.
struct Entry {
    held: OwnedFd,
    stat: Stat,
}

impl Place {
    /// The place that a path has, from a directory on.
    fn of(from: impl AsFd, path: &OsStr) -> io::Result<Place> {
        let bytes = path.as_bytes();
        let (parent, name) = match bytes.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => bytes.split_at(slash + 1),
            None => (&b"."[..], bytes),
        };
        match name {
            b"" if bytes.is_empty() => return Err(Errno::NOENT.into()),
            b"" | b"." | b".." => return Err(Errno::ISDIR.into()),
            _ => {}
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = steady(|| rustix::fs::openat(&from, parent, flags, Mode::empty()))?;
        Ok(Place {
            directory,
            name: OsStr::from_bytes(name).to_owned(),
        })
    }

    /// The entry of this name, which may be a link.
    fn look(&self) -> io::Result<Option<Entry>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = steady(|| rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty()));
        let held = match held {
            Err(Errno::NOENT) => return Ok(None),
            held => held?,
        };
        let stat = rustix::fs::fstat(&held)?;
        Ok(Some(Entry { held, stat }))
    }

    /// The place that a link of this name leads to.
    ///
    /// Another user can put a link into a directory that is open to all, such as `/tmp`.
    /// The kernel refuses to follow it for open(2) where `fs.protected_symlinks` is 1
    /// (proc(5)), and knows nothing of a link that we read. So the same rule holds here.
    fn behind(&self, link: &Entry) -> io::Result<Place> {
        let directory = rustix::fs::fstat(&self.directory)?;
        let caller = user::effective()?;
        if ![caller, directory.st_uid].contains(&link.stat.st_uid) {
            let why = "the link belongs to another user; try the path of the file itself";
            return Err(io::Error::other(why));
        }
        let target = rustix::fs::readlinkat(&link.held, "", Vec::new())?;
        Place::of(&self.directory, &OsString::from_vec(target.into_bytes()))
    }
}

impl Entry {
    fn is_link(&self) -> bool {
        FileType::from_raw_mode(self.stat.st_mode) == FileType::Symlink
    }

    /// The rights that a file gets when it replaces this one.
    fn rights(&self) -> io::Result<Replaced> {
        if FileType::from_raw_mode(self.stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("not a regular file"));
        }
        let mut list = vec![0; ACCESS_LIST_MAX];
        // Without /proc, and where nobody has such lists, there is none.
        let length = rustix::fs::getxattr(link_to(&self.held), ACCESS_LIST, &mut list[..]);
        Ok(Replaced {
            // A set-user-ID bit was for other content.
            mode: Mode::from_raw_mode(self.stat.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO),
            owner: (self.stat.st_uid, self.stat.st_gid),
            access_list: length.ok().map(|length| list[..length].to_vec()),
        })
    }
}

impl Replaced {
    /// Gives a new file these rights. Where it cannot have the group or the access list, its
    /// group may do no more than all others: it is another one.
    fn give_to(&self, file: &File) -> io::Result<()> {
        let stat = rustix::fs::fstat(file)?;
        let (user, group) = self.owner;
        let mut has_group = stat.st_gid == group;
        if stat.st_uid != user || !has_group {
            let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
            let whole = rustix::fs::fchown(file, Some(user), Some(group));
            let given = whole.or_else(|_| rustix::fs::fchown(file, None, Some(group)));
            has_group |= given.is_ok();
        }
        // A directory can have given it a list of its own.
        let has_list = match &self.access_list {
            Some(list) => {
                rustix::fs::fsetxattr(file, ACCESS_LIST, list, XattrFlags::empty()).is_ok()
            }
            None => !matches!(
                rustix::fs::fremovexattr(file, ACCESS_LIST),
                Err(error) if ![Errno::NODATA, Errno::OPNOTSUPP, Errno::NOSYS].contains(&error)
            ),
        };
        let mut mode = self.mode;
        if !has_group || !has_list {
            let others = Mode::from_raw_mode((mode & Mode::RWXO).as_raw_mode() << 3);
            mode &= others | Mode::RWXU | Mode::RWXO;
        }
        let now = Mode::from_raw_mode(rustix::fs::fstat(file)?.st_mode);
        let now = now & (Mode::RWXU | Mode::RWXG | Mode::RWXO);
        if now != mode
            && let Err(error) = rustix::fs::fchmod(file, mode)
            // A file system without modes gives all files the same.
            && !mode.contains(now)
        {
            return Err(error.into());
        }
        Ok(())
    }
}

/// Nobody may read a file that replaces another before it has the rights of that one.
fn mode_at_first(replaced: Option<&Replaced>) -> Mode {
    Mode::from_raw_mode(match replaced {
        Some(_) => 0o600,
        None => 0o666,
    })
}

/// Makes a file without a name, where the file system has such files.
fn nameless(directory: &OwnedFd, mode: Mode) -> io::Result<Option<File>> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    match steady(|| rustix::fs::openat(directory, ".", flags, mode)) {
        Ok(file) => Ok(Some(File::from(file))),
        // EISDIR comes from kernels and file systems that do not know the flag.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {
            let needed = Access::WRITE_OK | Access::EXEC_OK;
            rustix::fs::accessat(directory, ".", needed, AtFlags::empty())?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Tries names until one is free. Two processes can have the same number, each in its own
/// container, so the number of the process does not do.
fn with_free_name<T>(
    mut attempt: impl FnMut(&OsStr) -> rustix::io::Result<T>,
) -> io::Result<(T, OsString)> {
    for _ in 0..NAMES_MAX {
        let name = OsString::from(format!(".statwalk-{:016x}.tmp", random::number()));
        match attempt(&name) {
            Err(Errno::EXIST) => {}
            result => return Ok((result?, name)),
        }
    }
    Err(io::Error::other("no name is free for a temporary file"))
}

/// Repeats a call that a signal interrupts. A file system in user space can answer EINTR
/// for ever.
fn steady<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    let mut interruptions = 0;
    loop {
        match call() {
            Err(Errno::INTR) if interruptions < INTERRUPTIONS_MAX => interruptions += 1,
            answer => return answer,
        }
    }
}

/// The path of an open file (proc_pid_fd(5)).
fn link_to(open: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", open.as_raw_fd())
}

/// Gives a nameless file its name, unless there is a file of this name.
fn give_name(file: &File, directory: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    // The way of open(2) for a process without CAP_DAC_READ_SEARCH.
    let follow = AtFlags::SYMLINK_FOLLOW;
    match rustix::fs::linkat(CWD, link_to(file), directory, name, follow) {
        // Without /proc.
        Err(Errno::NOENT) => rustix::fs::linkat(file, "", directory, name, AtFlags::EMPTY_PATH),
        named => named,
    }
}

/// Takes away a name that this process gave to its own file.
fn take_back(directory: &OwnedFd, own: &OsStr) -> rustix::io::Result<()> {
    rustix::fs::unlinkat(directory, own, AtFlags::empty())
}

/// Gives a file another name in its directory, which it takes from a file that has it.
fn put_over(directory: &OwnedFd, from: &OsStr, to: &OsStr) -> rustix::io::Result<()> {
    rustix::fs::renameat(directory, from, directory, to)
}

/// Renames a file, unless there is a file of this name.
fn move_beside(directory: &OwnedFd, from: &OsStr, to: &OsStr) -> rustix::io::Result<()> {
    let flags = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(directory, from, directory, to, flags) {
        // The file system, or the kernel, cannot refuse by itself.
        Err(Errno::INVAL | Errno::NOSYS) => {}
        moved => return moved,
    }
    match rustix::fs::linkat(directory, from, directory, to, AtFlags::empty()) {
        // Both names are those of a whole file. The second can go, or stay after a kill.
        Ok(()) => return take_back(directory, from),
        Err(Errno::EXIST) => return Err(Errno::EXIST),
        // The file system has no links, as FAT.
        Err(_) => {}
    }
    // An empty file takes the name before. A kill between the calls leaves it.
    let create = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    steady(|| rustix::fs::openat(directory, to, create, Mode::from_raw_mode(0o666)))?;
    let moved = put_over(directory, from, to);
    if moved.is_err() {
        // The first error counts.
        let _ = take_back(directory, to);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

    use statwalk_testkit::unprivileged::is_root;
    use statwalk_testkit::{Scratch, Skipped};

    fn write(path: &Path, existing: Existing, text: &[u8]) -> io::Result<()> {
        let mut file = WholeFile::begin(path, existing)?;
        file.write(text)?;
        file.finish().map(drop)
    }

    fn names(directory: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_appears_whole_and_replaces_only_on_request() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("report");
        let mut file = WholeFile::begin(&path, Existing::Kept).unwrap();
        file.write(b"one").unwrap();
        assert_eq!(names(scratch.path()).len(), 0);
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        let refused = write(&path, Existing::Kept, b"two").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        write(&path, Existing::Replaced, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(names(scratch.path()), ["report"]);
    }

    #[test]
    fn a_file_that_comes_meanwhile_stays() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("report");
        let mut file = WholeFile::begin(&path, Existing::Kept).unwrap();
        file.write(b"new").unwrap();
        fs::write(&path, "other").unwrap();
        assert_eq!(
            file.finish().unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(fs::read(&path).unwrap(), b"other");
        assert_eq!(names(scratch.path()), ["report"]);
    }

    #[test]
    fn a_link_stays_and_what_is_no_file_is_not_replaced() {
        let scratch = Scratch::new().unwrap();
        let (path, link) = (scratch.path().join("report"), scratch.path().join("link"));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink("report", &link).unwrap();
        write(&link, Existing::Replaced, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(write(scratch.path(), Existing::Replaced, b"").is_err());
        assert!(write(Path::new("/dev/null"), Existing::Replaced, b"").is_err());
        let lost = scratch.path().join("lost");
        std::os::unix::fs::symlink("nowhere", &lost).unwrap();
        assert!(write(&lost, Existing::Kept, b"").is_err());
        assert!(write(&lost, Existing::Replaced, b"").is_err());
    }

    /// A report of minutes: the directory is another one when it is ready.
    #[test]
    fn the_directory_of_the_begin_gets_the_file() {
        for existing in [Existing::Kept, Existing::Replaced] {
            let scratch = Scratch::new().unwrap();
            let [place, moved, other] =
                ["place", "moved", "other"].map(|name| scratch.path().join(name));
            fs::create_dir(&place).unwrap();
            fs::create_dir(&other).unwrap();
            fs::write(other.join("report"), "precious").unwrap();
            let mut file = WholeFile::begin(&place.join("report"), existing).unwrap();
            file.write(b"new").unwrap();
            let above = Place::of(CWD, place.as_os_str()).unwrap().directory;
            put_over(&above, "place".as_ref(), "moved".as_ref()).unwrap();
            symlink("other", &place).unwrap();
            let path = file.finish().unwrap();
            assert_eq!(path, moved.canonicalize().unwrap().join("report"));
            assert_eq!(fs::read(path).unwrap(), b"new");
            assert_eq!(fs::read(other.join("report")).unwrap(), b"precious");
            assert_eq!(names(&moved), ["report"]);
        }
    }

    #[test]
    fn only_a_link_of_the_caller_or_of_the_owner_of_its_directory_is_followed() {
        if !is_root() {
            return Skipped::needs("root").report();
        }
        let scratch = Scratch::new().unwrap();
        let shared = scratch.subdirectory("shared").unwrap();
        let (target, link) = (scratch.path().join("target"), shared.join("report"));
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
        fs::write(&target, "precious").unwrap();
        symlink("../target", &link).unwrap();
        lchown(&link, Some(1234), Some(1234)).unwrap();
        let refused = write(&link, Existing::Replaced, b"new").unwrap_err();
        assert!(refused.to_string().contains("another user"), "{refused}");
        // So is one behind a link of the caller.
        let own = scratch.path().join("own");
        symlink("shared/report", &own).unwrap();
        assert!(write(&own, Existing::Replaced, b"new").is_err());
        assert_eq!(fs::read(&target).unwrap(), b"precious");
        chown(&shared, Some(1234), None).unwrap();
        write(&own, Existing::Replaced, b"new").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        // Links that lead round end, as in the kernel.
        symlink("round", scratch.path().join("round")).unwrap();
        let round = write(&scratch.path().join("round"), Existing::Replaced, b"");
        assert_eq!(
            round.unwrap_err().raw_os_error(),
            Some(Errno::LOOP.raw_os_error())
        );
    }

    #[test]
    fn a_file_keeps_its_rights_when_it_is_replaced() {
        let scratch = Scratch::new().unwrap();
        for mode in [0o600, 0o664, 0o400] {
            let path = scratch.path().join(mode.to_string());
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            // The time of writing does not count: somebody may close the file then.
            let mut file = WholeFile::begin(&path, Existing::Replaced).unwrap();
            file.write(b"new").unwrap();
            let during = file.file.as_ref().unwrap().metadata().unwrap().mode();
            assert_eq!(during & 0o777, 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(mode & 0o666)).unwrap();
            file.finish().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"new");
            assert_eq!(path.metadata().unwrap().mode() & 0o7777, mode);
        }
        if !is_root() {
            return Skipped::needs("root").report();
        }
        let path = scratch.path().join("report");
        fs::write(&path, "old").unwrap();
        chown(&path, Some(1234), Some(5678)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4640)).unwrap();
        write(&path, Existing::Replaced, b"newer").unwrap();
        let now = path.metadata().unwrap();
        assert_eq!((now.uid(), now.gid()), (1234, 5678));
        assert_eq!(now.mode() & 0o7777, 0o640);
    }

    /// A user who is in the access list reads on, and the group does not begin to.
    #[test]
    fn a_file_keeps_its_access_list_when_it_is_replaced() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("report");
        fs::write(&path, "old").unwrap();
        // acl(5) in the form of the kernel: tag, rights and number of each line.
        let lines: [(u16, u16, u32); 5] = [
            (0x01, 6, u32::MAX),
            (0x02, 4, 1234),
            (0x04, 0, u32::MAX),
            (0x10, 4, u32::MAX),
            (0x20, 0, u32::MAX),
        ];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, rights, number) in lines {
            list.extend(tag.to_le_bytes());
            list.extend(rights.to_le_bytes());
            list.extend(number.to_le_bytes());
        }
        let set = rustix::fs::setxattr(&path, ACCESS_LIST, &list, XattrFlags::empty());
        if set == Err(Errno::OPNOTSUPP) {
            return Skipped::needs("access lists").report();
        }
        set.unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o640);
        write(&path, Existing::Replaced, b"new").unwrap();
        let mut now = vec![0; ACCESS_LIST_MAX];
        let length = rustix::fs::getxattr(&path, ACCESS_LIST, &mut now[..]).unwrap();
        assert_eq!(now[..length], list);
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o640);
    }

    /// In a container each process can have the same number.
    #[test]
    fn a_name_that_was_left_behind_stops_nothing() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("report");
        fs::write(&path, "old").unwrap();
        let left = format!(".statwalk-{}.tmp", std::process::id());
        fs::write(scratch.path().join(&left), "").unwrap();
        write(&path, Existing::Replaced, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let mut tries = 0;
        let taken = with_free_name(|_| {
            tries += 1;
            Err::<(), _>(Errno::EXIST)
        });
        assert!(taken.is_err());
        assert_eq!(tries, NAMES_MAX);
    }

    /// Some file systems have no files without names.
    #[test]
    fn a_temporary_name_does_as_well() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("report");
        let named = |existing| {
            let mut file = WholeFile::begin(&path, Existing::Replaced).unwrap();
            file.file = None;
            file.existing = existing;
            file
        };
        let mut file = named(Existing::Kept);
        file.write(b"one").unwrap();
        assert_eq!(names(scratch.path()).len(), 1);
        file.finish().unwrap();
        let mut file = named(Existing::Kept);
        file.write(b"two").unwrap();
        assert!(file.finish().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        let mut file = named(Existing::Replaced);
        file.write(b"three").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        let mut file = named(Existing::Kept);
        file.write(b"never").unwrap();
        drop(file);
        assert_eq!(names(scratch.path()), ["report"]);
    }
}
