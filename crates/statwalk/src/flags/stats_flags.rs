// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `stats`.

use std::ffi::OsString;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Parser, ValueEnum};
use statwalk_core::Grouping;

use super::scan_flags::SHOWN;
use super::{FilterFlags, ScanFlags, SizeFlags};

/// Group entries by type, category, owner, group, age, size or depth
///
/// Where the output is not a terminal, each group is a row of its bytes, the
/// number of its entries and its name, with tabulators between. With two keys, each
/// pair of values is a row, and the value of the second key follows that of the first.
#[derive(Parser)]
#[command(
    name = "stats",
    disable_version_flag = true,
    disable_help_flag = true,
    args_override_self = true
)]
pub(crate) struct StatsFlags {
    /// Scan these paths, or read one snapshot, such as /home@last [default: .]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Group entries by this key, or by two: --by owner,age
    ///
    /// The second key divides each group of the first.
    #[arg(long, value_name = "KEY[,KEY]", default_value = "type", value_delimiter = ',',
        num_args = 1, action = ArgAction::Set, value_parser = groupings())]
    pub(crate) by: Vec<Grouping>,

    /// Show this many groups [default: as many as fit on the terminal, all on a pipe]
    ///
    /// With two keys, the limit is that of the first, and that of the second within each.
    #[arg(short = 'n', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) lines: Option<usize>,

    #[command(flatten)]
    pub(crate) sizes: SizeFlags,

    /// Show the median, the 90th and the 99th percentile of the sizes of files
    ///
    /// They are apparent sizes of regular files, each at most 1/16 above the true one. Nine
    /// of ten files of the group are not larger than the 90th percentile. Rows have them as
    /// columns before the name; JSON has them always.
    #[arg(long, help_heading = SHOWN)]
    pub(crate) percentiles: bool,

    /// Sort groups by this key [default: size; age, size and depth keep their own order]
    ///
    /// With two keys, it sorts the groups of the first, and those of the second within each.
    #[arg(long, value_name = "KEY", help_heading = SHOWN)]
    pub(crate) sort: Option<StatsSortName>,

    /// Reverse the order of the groups
    #[arg(short = 'r', long, help_heading = SHOWN)]
    pub(crate) reverse: bool,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,

    #[command(flatten)]
    pub(crate) filters: FilterFlags,
}

/// The keys that entries are grouped by.
fn groupings() -> impl TypedValueParser<Value = Grouping> {
    let value = |by: Grouping| PossibleValue::new(by.name()).help(by.description());
    PossibleValuesParser::new(Grouping::ALL.map(value))
        .map(|name| Grouping::of_name(&name).expect("it is one of these"))
}

/// The keys that groups are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatsSortName {
    /// Largest first
    Size,
    /// In the groups' own order
    Name,
    /// Most entries first
    Count,
}
