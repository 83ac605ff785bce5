// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `find`.

use std::ffi::OsString;

use clap::{Parser, ValueEnum};

use super::scan_flags::{FILTERS, SHOWN};
use super::{FilterFlags, ScanFlags};

/// List entries whose name matches, as fd does
///
/// One word is the PATH to search; a word with *, ? or [ that names no entry is a
/// glob for the current directory. Of several words the last is the PATTERN, a
/// regular expression that matches anywhere in the name. A PATTERN that begins
/// with * or ? is a glob, because no regular expression begins so. A word with a slash is
/// always a path, and with -g all words are paths. The search is case-insensitive
/// unless PATTERN has a capital.
///
/// The list holds hidden and ignored files: a disk tool shows every file. The
/// paths come in no particular order; statwalk sorts a short list. It stats an
/// entry only where a filter needs that.
#[derive(Parser)]
#[command(name = "find", disable_version_flag = true, args_override_self = true, after_long_help = EXAMPLES)]
pub(crate) struct FindFlags {
    /// Search these paths, or one snapshot, for the pattern [default: .]
    #[arg(value_name = "PATH… PATTERN")]
    pub(crate) words: Vec<OsString>,

    #[command(flatten)]
    pub(crate) filters: FilterFlags,

    /// Limit the search to this depth; the entries of PATH have depth 1
    #[arg(short = 'd', long, value_name = "N", help_heading = FILTERS)]
    pub(crate) max_depth: Option<u32>,

    /// List at most this many paths
    #[arg(short = 'n', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) lines: Option<u64>,

    /// Show these attributes: columns before the path, or fields of the JSON
    ///
    /// A tabulator follows each column, and the path comes last. A column is empty, and
    /// a field of the JSON absent, where the file system does not know the attribute.
    /// Sizes are bytes and times seconds since 1970; on a terminal they have units and
    /// dates.
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',', help_heading = SHOWN)]
    pub(crate) fields: Vec<FieldName>,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,
}

/// The attributes that rows can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FieldName {
    /// Type, as a letter of --type
    Type,
    /// Apparent size, `st_size`
    Size,
    /// Space on disk, 512 times `st_blocks`
    Allocated,
    /// Number of hard links
    Links,
    /// Inode number
    Inode,
    /// Device of the file system, MAJOR:MINOR
    Device,
    /// Last modification
    Mtime,
    /// Last access
    Atime,
    /// Last change of the inode
    Ctime,
    /// Birth
    Btime,
    /// Name of the user, or the number where there is none
    Owner,
    /// Name of the group, or the number where there is none
    Group,
    /// Number of the user
    Uid,
    /// Number of the group
    Gid,
    /// Permission bits, in octal
    Mode,
    /// Device that a device node stands for, MAJOR:MINOR
    Rdev,
    /// All of these
    All,
}

impl FieldName {
    /// The fields that [`All`](Self::All) means, in the order of the help.
    pub(crate) fn each() -> impl Iterator<Item = FieldName> {
        let names = FieldName::value_variants().iter().copied();
        names.filter(|name| *name != FieldName::All)
    }
}

const EXAMPLES: &str = "\
Examples:
  statwalk find . '^core$'                     search by regular expression
  statwalk find -g '*.iso' ~ /srv              search two trees by glob
  statwalk find /var -e log -S +100M           list large logs
  statwalk find /srv -t f --fields size,mtime,owner | sort -n
  statwalk find . -t d node_modules -0 | xargs -0 du -sh";
