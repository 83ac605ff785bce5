// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `find`.

use std::ffi::OsString;

use clap::Parser;

use super::scan_flags::{FILTERS, SHOWN};
use super::{FilterFlags, ScanFlags};

/// List entries whose name matches, as fd does
///
/// One word is the PATH to search. Of several words the last is the PATTERN, a
/// regular expression that matches anywhere in the name. A word with a slash is
/// always a path, and with -g all words are paths. The search is case-insensitive
/// unless PATTERN has a capital.
///
/// The list holds hidden and ignored files: a disk tool shows every file. The
/// paths come in no particular order; statwalk sorts a short list. It stats an
/// entry only where a filter needs that.
#[derive(Parser)]
#[command(name = "find", disable_version_flag = true, args_override_self = true, after_long_help = EXAMPLES)]
pub(crate) struct FindFlags {
    /// Search these paths [default: .] for the pattern
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

    #[command(flatten)]
    pub(crate) scan: ScanFlags,
}

const EXAMPLES: &str = "\
Examples:
  statwalk find . '^core$'                     search by regular expression
  statwalk find -g '*.iso' ~ /srv              search two trees by glob
  statwalk find /var -e log -S +100M           list large logs
  statwalk find . -t d node_modules -0 | xargs -0 du -sh";
