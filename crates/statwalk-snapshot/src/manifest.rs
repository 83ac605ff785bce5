// SPDX-License-Identifier: MIT OR Apache-2.0

//! The manifest: the one file by which a snapshot is opened.
//!
//! It has the files of each table, the options and times of the scan, its counts, and what
//! is missing. Nothing of a snapshot is learnt from a listing of its folder.

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind};
use crate::hex::is_sha256;
use crate::regular_file;
use crate::schema::TableName;

/// The name of the manifest in the folder of a snapshot.
pub const MANIFEST_NAME: &str = "_manifest.json";

/// The name of the format, as the manifest has it.
pub const FORMAT_NAME: &str = "statwalk-snapshot";

/// The major version of the format: a reader refuses all others.
pub const FORMAT_MAJOR: u32 = 1;

/// The minor version: a reader of an older one reads it, and ignores additions.
pub const FORMAT_MINOR: u32 = 0;

/// The most bytes of a manifest that are read.
const BYTES_MAX: u64 = 64 << 20;

/// The most rows of a table, so that sums of rows never overflow.
const ROWS_MAX: u64 = 1 << 48;

/// All that a snapshot says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The facts about the scan.
    pub facts: Facts,
    /// Whether nothing was unreadable, nothing changed, every root was there, and the scan came
    /// to its end.
    pub complete: bool,
    /// The counts and sums over all roots.
    pub counts: Counts,
    /// The number of paths by class of what is missing.
    pub missing: Missing,
    /// The device numbers of each file system at the time of the scan, by `fs`.
    pub devices: Vec<Vec<u64>>,
    /// The rows of the roots in `entries`, by root; absent where a root has none.
    pub root_rows: Vec<Option<u64>>,
    /// The files.
    pub tables: Tables,
}

/// The facts that a scan has and its rows have not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The program that wrote the snapshot, and its version.
    pub program: String,
    /// The name of the machine.
    pub host: String,
    /// The begin of the scan, in nanoseconds since 1970.
    pub began_ns: i64,
    /// The end of the scan, in nanoseconds since 1970.
    pub ended_ns: i64,
    /// The roots, in the order of the arguments.
    pub roots: Vec<Root>,
    /// The names of the fields that the scan asked for.
    pub fields: Vec<String>,
    /// How an inode with several names counts.
    pub links: Links,
    /// Whether symbolic links were followed.
    #[serde(default)]
    pub follows: bool,
    /// Whether the scan ended before it had read all. Such a scan is stored on request alone.
    #[serde(default)]
    pub interrupted: bool,
    /// The options of the scan, as the program that wrote the snapshot has them.
    #[serde(default)]
    pub options: Map<String, Value>,
}

/// A root of the scan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Root {
    /// The path as the caller gave it.
    #[serde(with = "path_text")]
    pub path: Vec<u8>,
    /// The absolute path.
    #[serde(with = "path_text")]
    pub absolute: Vec<u8>,
    /// The error number for which the root is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<i32>,
    /// Whether an earlier root had reached it, so that its entries belong there.
    #[serde(default)]
    pub reached_earlier: bool,
    /// Whether the scan ended before it had read all below the root.
    #[serde(default)]
    pub interrupted: bool,
    /// Entries that could not be read.
    #[serde(default)]
    pub unreadable: u64,
    /// Entries that were gone before they could be read. They have no path.
    #[serde(default)]
    pub vanished: u64,
    /// Directories that did not hold still.
    #[serde(default)]
    pub changed_dirs: u64,
    /// Entries that patterns and filters left out, and kernel file systems.
    #[serde(default)]
    pub excluded: u64,
    /// Mounts that were not entered.
    #[serde(default)]
    pub crossings: u64,
    /// Directories whose times moved, and whose entries did not.
    #[serde(default)]
    pub restless_dirs: u64,
    /// Overlays that were left out, because their layers were read.
    #[serde(default)]
    pub overlays_left_out: u64,
    /// Mounts that were entered, and whose files can count elsewhere, too.
    #[serde(default)]
    pub mounts_perhaps_twice: u64,
    /// Names that a directory listed more than once.
    #[serde(default)]
    pub repeated_names: u64,
}

/// How an inode with several names counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Links {
    /// Its bytes count once, where its first name is.
    #[default]
    Once,
    /// Its bytes count for each name.
    Each,
}

/// Counts and sums over all roots. Sums are those of the names that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Names, those of the roots too.
    pub entries: u64,
    /// Directories among them.
    pub dirs: u64,
    /// Regular files among them.
    pub files: u64,
    /// The sizes of files and symbolic links.
    pub size_bytes: u128,
    /// The space that all entries take.
    pub allocated_bytes: u128,
}

/// The number of paths by class of what is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Could not be read.
    pub unreadable: u64,
    /// Changed each time they were read.
    pub changed: u64,
    /// Were gone before they could be read.
    pub vanished: u64,
    /// Were not entered: a mount, an exclusion or a limit.
    pub not_entered: u64,
}

/// The files of each table, in the order of their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tables {
    /// A row for each name.
    pub entries: Vec<FileRecord>,
    /// A row for each directory.
    pub dirs: Vec<FileRecord>,
    /// A row for each path of which something is missing.
    pub errors: Vec<FileRecord>,
    /// A row for each user and group.
    pub owners: Vec<FileRecord>,
    /// A row for each file system.
    pub filesystems: Vec<FileRecord>,
}

/// A file of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its path in the folder: `entries/part-00000.parquet`.
    pub name: String,
    /// How many rows it has.
    pub rows: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// The SHA-256 of its bytes, in 64 lower-case digits.
    pub sha256: String,
}

/// The manifest as it is written.
#[derive(Serialize, Deserialize)]
struct Document {
    format: String,
    version: Version,
    #[serde(flatten)]
    rest: Rest,
}

/// The head alone, which every version has.
#[derive(Deserialize)]
struct Head {
    format: Option<String>,
    version: Option<Version>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Version {
    major: u32,
    minor: u32,
}

#[derive(Serialize, Deserialize)]
struct Rest {
    complete: bool,
    scan: Facts,
    counts: CountsText,
    missing: Missing,
    devices: Vec<Vec<u64>>,
    root_rows: Vec<Option<u64>>,
    tables: Tables,
}

/// Counts with sums as text: a program in JavaScript would round numbers beyond 2^53.
#[derive(Serialize, Deserialize)]
struct CountsText {
    entries: u64,
    dirs: u64,
    files: u64,
    size_bytes: String,
    allocated_bytes: String,
}

impl Manifest {
    /// Reads the manifest of a snapshot.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder is no snapshot, if the format is a newer one, or if the
    /// manifest contradicts itself.
    pub fn read(folder: &Path) -> Result<Manifest, Error> {
        let path = folder.join(MANIFEST_NAME);
        let mut bytes = Vec::new();
        let file = match regular_file::open(&path) {
            Ok(file) => file?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && folder.is_dir() => {
                let message = format!("not a snapshot: there is no {MANIFEST_NAME}");
                return Err(Error::new(ErrorKind::NotASnapshot, message).at(folder));
            }
            Err(error) => return Err(Error::io("open", &path, error)),
        };
        let read = file.take(BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| Error::io("read", &path, error))?;
        Manifest::from_json(&bytes).map_err(|error| error.at(&path))
    }

    /// Reads a manifest from its bytes.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn from_json(bytes: &[u8]) -> Result<Manifest, Error> {
        if bytes.len() as u64 > BYTES_MAX {
            return Err(Error::damaged("the manifest is larger than 64 MiB"));
        }
        let head: Head = serde_json::from_slice(bytes)
            .map_err(|error| Error::damaged(format!("the manifest is no JSON: {error}")))?;
        if head.format.as_deref() != Some(FORMAT_NAME) {
            let message = format!("not a snapshot: the format is not {FORMAT_NAME}");
            return Err(Error::new(ErrorKind::NotASnapshot, message));
        }
        let version = head.version;
        let version = version.ok_or_else(|| Error::damaged("the manifest has no version"))?;
        if version.major != FORMAT_MAJOR {
            let message = format!(
                "the format has version {}.{}, and this program reads {FORMAT_MAJOR}",
                version.major, version.minor
            );
            return Err(Error::new(ErrorKind::NewerFormat, message));
        }
        let document: Document = serde_json::from_slice(bytes)
            .map_err(|error| Error::damaged(format!("the manifest is malformed: {error}")))?;
        let rest = document.rest;
        let number = |text: &str| {
            let number = text.parse::<u128>();
            number.map_err(|_| Error::damaged("a sum in the manifest is no number"))
        };
        let counts = Counts {
            entries: rest.counts.entries,
            dirs: rest.counts.dirs,
            files: rest.counts.files,
            size_bytes: number(&rest.counts.size_bytes)?,
            allocated_bytes: number(&rest.counts.allocated_bytes)?,
        };
        let manifest = Manifest {
            facts: rest.scan,
            complete: rest.complete,
            counts,
            missing: rest.missing,
            devices: rest.devices,
            root_rows: rest.root_rows,
            tables: rest.tables,
        };
        manifest.check()?;
        Ok(manifest)
    }

    /// The bytes of the manifest.
    ///
    /// # Panics
    ///
    /// Panics if the options hold a value that JSON has not.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let document = Document {
            format: FORMAT_NAME.to_owned(),
            version: Version {
                major: FORMAT_MAJOR,
                minor: FORMAT_MINOR,
            },
            rest: Rest {
                complete: self.complete,
                scan: self.facts.clone(),
                counts: CountsText {
                    entries: self.counts.entries,
                    dirs: self.counts.dirs,
                    files: self.counts.files,
                    size_bytes: self.counts.size_bytes.to_string(),
                    allocated_bytes: self.counts.allocated_bytes.to_string(),
                },
                missing: self.missing,
                devices: self.devices.clone(),
                root_rows: self.root_rows.clone(),
                tables: self.tables.clone(),
            },
        };
        let text = serde_json::to_vec_pretty(&document);
        let mut text = text.expect("all keys are text, and no number is infinite");
        text.push(b'\n');
        text
    }

    /// How many bytes the files of all tables have.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let files = TableName::ALL
            .into_iter()
            .flat_map(|name| self.tables.of(name));
        files.map(|file| file.bytes).fold(0, u64::saturating_add)
    }

    /// Refuses what no writer makes, so that nothing that uses it has to ask again.
    fn check(&self) -> Result<(), Error> {
        for name in TableName::ALL {
            let files = self.tables.of(name);
            if files.is_empty() {
                let message = format!("the manifest names no file of the table {}", name.name());
                return Err(Error::damaged(message));
            }
            let mut rows: u64 = 0;
            for (number, file) in files.iter().enumerate() {
                if file.name != name.file_name(number) {
                    let message = format!("the manifest names a file {:?}", file.name);
                    return Err(Error::damaged(message));
                }
                if !is_sha256(&file.sha256) {
                    return Err(Error::damaged(format!("{} has no hash", file.name)));
                }
                rows = rows.saturating_add(file.rows);
            }
            if rows > ROWS_MAX {
                let message = format!("the table {} has too many rows", name.name());
                return Err(Error::damaged(message));
            }
        }
        let (entries, dirs) = (self.rows(TableName::Entries), self.rows(TableName::Dirs));
        if self.counts.entries != entries || self.counts.dirs < dirs {
            return Err(Error::damaged("the counts are not those of the tables"));
        }
        if self.root_rows.len() != self.facts.roots.len() {
            return Err(Error::damaged(
                "the rows of roots are not those of the roots",
            ));
        }
        let rows: Vec<u64> = self.root_rows.iter().flatten().copied().collect();
        if !rows.iter().copied().eq(0..rows.len() as u64) || rows.len() as u64 > entries {
            return Err(Error::damaged("the rows of roots are not the first rows"));
        }
        if self.devices.len() as u64 != self.rows(TableName::Filesystems) {
            return Err(Error::damaged(
                "the devices are not those of the file systems",
            ));
        }
        Ok(())
    }

    /// How many rows a table has.
    pub(crate) fn rows(&self, name: TableName) -> u64 {
        self.tables.of(name).iter().map(|file| file.rows).sum()
    }
}

impl Tables {
    /// The files of a table.
    pub(crate) fn of(&self, name: TableName) -> &[FileRecord] {
        match name {
            TableName::Entries => &self.entries,
            TableName::Dirs => &self.dirs,
            TableName::Errors => &self.errors,
            TableName::Owners => &self.owners,
            TableName::Filesystems => &self.filesystems,
        }
    }

    /// The same, to be changed.
    #[cfg(test)]
    pub(crate) fn of_mut(&mut self, name: TableName) -> &mut Vec<FileRecord> {
        match name {
            TableName::Entries => &mut self.entries,
            TableName::Dirs => &mut self.dirs,
            TableName::Errors => &mut self.errors,
            TableName::Owners => &mut self.owners,
            TableName::Filesystems => &mut self.filesystems,
        }
    }
}

impl Missing {
    /// Whether nothing was unreadable and nothing changed. Directories that the scan did not
    /// enter, and entries that were gone, leave it whole.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.unreadable == 0 && self.changed == 0
    }

    pub(crate) fn add(&mut self, more: &Missing) {
        self.unreadable += more.unreadable;
        self.changed += more.changed;
        self.vanished += more.vanished;
        self.not_entered += more.not_entered;
    }
}

/// Paths as the text that leads back to their bytes.
mod path_text {
    use serde::{Deserialize, Deserializer, Serializer};
    use statwalk_format::{bytes_of_text, text_of_bytes};

    pub(super) fn serialize<S: Serializer>(path: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&text_of_bytes(path))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        Ok(bytes_of_text(&text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn manifest() -> Manifest {
        let mut tables = Tables::default();
        for name in TableName::ALL {
            tables.of_mut(name).push(FileRecord {
                name: name.file_name(0),
                rows: 1,
                bytes: 7,
                sha256: "0a".repeat(32),
            });
        }
        Manifest {
            facts: Facts {
                program: "statwalk 0.1.0".to_owned(),
                host: "here".to_owned(),
                roots: vec![Root {
                    path: b"caf\xE9".to_vec(),
                    absolute: b"/srv/caf\xE9".to_vec(),
                    ..Root::default()
                }],
                ..Facts::default()
            },
            complete: true,
            counts: Counts {
                entries: 1,
                dirs: 1,
                size_bytes: u128::MAX,
                ..Counts::default()
            },
            missing: Missing::default(),
            devices: vec![vec![u64::MAX]],
            root_rows: vec![Some(0)],
            tables,
        }
    }

    fn changed(change: impl FnOnce(&mut Value)) -> Result<Manifest, Error> {
        let mut value: Value = serde_json::from_slice(&manifest().to_json()).unwrap();
        change(&mut value);
        Manifest::from_json(&serde_json::to_vec(&value).unwrap())
    }

    #[test]
    fn a_manifest_comes_back_from_its_json() {
        let manifest = manifest();
        assert_eq!(Manifest::from_json(&manifest.to_json()).unwrap(), manifest);
        assert_eq!(manifest.bytes(), 35);
    }

    #[test]
    fn a_newer_minor_version_is_read_and_another_major_one_is_not() {
        let newer = changed(|value| {
            value["version"]["minor"] = 7.into();
            value["colour"] = "blue".into();
            value["scan"]["colour"] = "blue".into();
        });
        assert_eq!(newer.unwrap(), manifest());
        for major in [0, 2, u32::MAX] {
            // Its other members may have any form.
            let other = changed(|value| {
                value["version"]["major"] = major.into();
                value["tables"] = 5.into();
            });
            assert_eq!(other.unwrap_err().kind(), ErrorKind::NewerFormat);
        }
    }

    #[test]
    fn a_manifest_that_no_writer_makes_is_refused() {
        type Change = fn(&mut Value);
        let changes: [(Change, ErrorKind); 12] = [
            (|value| *value = 5.into(), ErrorKind::Damaged),
            (
                |value| value["format"] = "tar".into(),
                ErrorKind::NotASnapshot,
            ),
            (|value| value["version"] = Value::Null, ErrorKind::Damaged),
            (
                |value| value["tables"]["entries"][0]["name"] = "../../etc/passwd".into(),
                ErrorKind::Damaged,
            ),
            (
                |value| value["tables"]["entries"][0]["rows"] = u64::MAX.into(),
                ErrorKind::Damaged,
            ),
            (
                |value| value["tables"]["dirs"][0]["sha256"] = "A0".repeat(32).into(),
                ErrorKind::Damaged,
            ),
            (
                |value| value["tables"]["errors"] = Value::Array(Vec::new()),
                ErrorKind::Damaged,
            ),
            (
                |value| value["root_rows"] = Value::Array(Vec::new()),
                ErrorKind::Damaged,
            ),
            (|value| value["root_rows"][0] = 1.into(), ErrorKind::Damaged),
            (
                |value| value["devices"] = Value::Array(Vec::new()),
                ErrorKind::Damaged,
            ),
            (
                |value| value["counts"]["entries"] = 2.into(),
                ErrorKind::Damaged,
            ),
            (
                |value| value["counts"]["size_bytes"] = "-1".into(),
                ErrorKind::Damaged,
            ),
        ];
        for (at, (change, kind)) in changes.into_iter().enumerate() {
            assert_eq!(changed(change).unwrap_err().kind(), kind, "change {at}");
        }
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let whole = manifest().to_json();
        for end in 0..whole.len() {
            // Without its last line it is whole.
            assert!(Manifest::from_json(&whole[..end]).is_err() || end + 1 == whole.len());
        }
    }

    #[test]
    fn a_folder_without_a_manifest_is_no_snapshot() {
        let folder = statwalk_testkit::Scratch::new().unwrap();
        let error = Manifest::read(folder.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotASnapshot);
        let error = Manifest::read(&folder.path().join("absent")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
    }
}
