// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `find`.

use std::ffi::OsString;

use clap::Parser;

use super::scan_flags::{FILTERS, SHOWN};
use super::{FilterFlags, ScanFlags};

/// List entries whose name matches, as fd does
///
/// One word is the PATH to search. Of several words the last is the PATTERN, a
/// regular expression that must match somewhere in the name; a word with a
/// slash is never a pattern, for no name holds one, and with -g all words are
/// paths. A small letter in PATTERN fits a capital one unless PATTERN has a
/// capital.
///
/// Hidden and ignored files are listed: a disk tool shows what is there. The
/// paths come in no particular order; a short list is sorted. An entry is
/// stat'ed only where a filter needs it.
#[derive(Parser)]
#[command(name = "find", disable_version_flag = true, args_override_self = true, after_long_help = EXAMPLES)]
pub(crate) struct FindFlags {
    /// What to search [default: .], and the pattern
    #[arg(value_name = "PATH… PATTERN")]
    pub(crate) words: Vec<OsString>,

    #[command(flatten)]
    pub(crate) filters: FilterFlags,

    /// Search no deeper than this; the entries of PATH have depth 1
    #[arg(short = 'd', long, value_name = "N", help_heading = FILTERS)]
    pub(crate) max_depth: Option<u32>,

    /// List at most this many
    #[arg(short = 'n', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) lines: Option<u64>,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,
}

const EXAMPLES: &str = "\
Examples:
  statwalk find . '^core$'                     by regular expression
  statwalk find -g '*.iso' ~ /srv              by glob, in two trees
  statwalk find /var -e log -S +100M           large logs
  statwalk find . -t d node_modules -0 | xargs -0 du -sh";
