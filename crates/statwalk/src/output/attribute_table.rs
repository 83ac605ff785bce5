// SPDX-License-Identifier: MIT OR Apache-2.0

//! The attributes of entries in lists: for each its field, its keys in JSON, and its value.

use rustix::fs::{major, minor};
use statwalk_core::{Attributes, Fields, FileType, Time};

use crate::flags::FieldName;

/// The value of an attribute, before it has a form.
pub(crate) enum Value {
    Bytes(u64),
    /// In nanoseconds since 1970.
    Time(i64),
    Number(u128),
    User(u32),
    Group(u32),
    Text(String),
}

/// The field that a scan reads for an attribute, and the keys of its value in JSON. A time
/// has one of its seconds and one of the rest, an owner one of the number and one of the name.
pub(crate) fn field_and_keys(name: FieldName) -> (Fields, [&'static str; 2]) {
    match name {
        FieldName::Type | FieldName::All => (Fields::TYPE, ["type", ""]),
        FieldName::Size => (Fields::SIZE, ["apparent_bytes", ""]),
        FieldName::Allocated => (Fields::ALLOCATED, ["allocated_bytes", ""]),
        FieldName::Links => (Fields::LINKS, ["links", ""]),
        FieldName::Inode => (Fields::ID, ["inode", ""]),
        FieldName::Device => (Fields::ID, ["device", ""]),
        FieldName::Mtime => (Fields::MTIME, ["mtime_s", "mtime_ns"]),
        FieldName::Atime => (Fields::ATIME, ["atime_s", "atime_ns"]),
        FieldName::Ctime => (Fields::CTIME, ["ctime_s", "ctime_ns"]),
        FieldName::Btime => (Fields::BTIME, ["btime_s", "btime_ns"]),
        FieldName::Owner => (Fields::OWNER, ["uid", "user"]),
        FieldName::Group => (Fields::OWNER, ["gid", "group"]),
        FieldName::Uid => (Fields::OWNER, ["uid", ""]),
        FieldName::Gid => (Fields::OWNER, ["gid", ""]),
        FieldName::Mode => (Fields::MODE, ["mode", ""]),
        FieldName::Rdev => (Fields::RDEV, ["rdev", ""]),
    }
}

/// The value of an attribute; absent where the file system does not know it.
pub(crate) fn value(name: FieldName, of: &Attributes) -> Option<Value> {
    let number = |number: Option<u32>| number.map(|number| Value::Number(number.into()));
    let time = |time| of.time_ns(time).map(Value::Time);
    // As in `/proc/self/mountinfo`.
    let device = |device| Value::Text(format!("{}:{}", major(device), minor(device)));
    match name {
        FieldName::Type => Some(Value::Text(of.kind.letter().to_string())),
        FieldName::Size => of.size_bytes().map(Value::Bytes),
        FieldName::Allocated => of.allocated_bytes().map(Value::Bytes),
        FieldName::Links => number(of.links()),
        FieldName::Inode => of.id().map(|id| Value::Number(id.ino())),
        FieldName::Device => of.id().map(|id| device(id.dev())),
        FieldName::Mtime => time(Time::Modified),
        FieldName::Atime => time(Time::Accessed),
        FieldName::Ctime => time(Time::Changed),
        FieldName::Btime => time(Time::Born),
        FieldName::Owner => of.uid().map(Value::User),
        FieldName::Group => of.gid().map(Value::Group),
        FieldName::Uid => number(of.uid()),
        FieldName::Gid => number(of.gid()),
        // In octal, as chmod(1) takes them.
        FieldName::Mode => (of.mode()).map(|mode| Value::Text(format!("{:04o}", mode & 0o7777))),
        FieldName::Rdev => match of.kind {
            FileType::CharDevice | FileType::BlockDevice => of.rdev().map(device),
            _ => None,
        },
        // It stands for the others.
        FieldName::All => None,
    }
}
