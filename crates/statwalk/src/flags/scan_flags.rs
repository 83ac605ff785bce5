// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of every command that scans: counting, reading and output.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use statwalk_core::Order;
use statwalk_core::tuning::AnyOrder;

/// The flags of a command whose answer a person or a program reads.
#[derive(Args)]
pub(crate) struct FormFlags {
    /// Print the answer as JSON
    #[arg(long, help_heading = SHOWN)]
    pub(crate) json: bool,

    /// End each row with NUL and print names unchanged
    #[arg(short = '0', long, alias = "null", conflicts_with = "json", help_heading = SHOWN)]
    pub(crate) print0: bool,

    /// Print the table also where the output is not a terminal
    #[arg(long, conflicts_with_all = ["json", "print0"], help_heading = SHOWN)]
    pub(crate) table: bool,

    /// Print the table this many columns wide, also where the output is not a terminal
    #[arg(long, value_name = "N", conflicts_with_all = ["json", "print0"], help_heading = SHOWN,
        value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) width: Option<u16>,

    /// Set when to use colour (NO_COLOR turns it off)
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = SHOWN,
        hide_default_value = true)]
    pub(crate) color: When,
}

/// The flags of every command that scans.
#[derive(Args)]
pub(crate) struct ScanFlags {
    #[command(flatten)]
    pub(crate) walk: WalkFlags,

    #[command(flatten)]
    pub(crate) links: LinkFlags,
}

/// The policies of a scan on links and syncs.
#[derive(Args)]
pub(crate) struct LinkFlags {
    /// Follow symbolic links, and detect loops
    ///
    /// Each file and directory counts once, however many links lead to it. statwalk
    /// lists a directory under one name; `find -L` lists it under each.
    #[arg(short = 'L', long, alias = "dereference", help_heading = COUNTED)]
    pub(crate) follow: bool,

    /// Follow no symbolic link: the default, unless -L comes before it
    #[arg(short = 'P', long, overrides_with = "follow", help_heading = COUNTED,
        hide_short_help = true)]
    no_dereference: bool,

    /// Count the bytes of a hard-linked file for each of its names
    #[arg(short = 'l', long, help_heading = COUNTED)]
    pub(crate) count_links: bool,

    /// Refuse sources that must sync the file system first
    ///
    /// The ext4 source syncs what is mounted for writing, and the btrfs source always does.
    #[arg(long, help_heading = READ)]
    pub(crate) no_sync: bool,
}

/// The flags of a scan without the policies on links and syncs: extents have neither.
#[derive(Args)]
pub(crate) struct WalkFlags {
    #[command(flatten)]
    pub(crate) form: FormFlags,

    /// Set when to show progress on stderr
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = SHOWN,
        hide_default_value = true)]
    pub(crate) progress: When,

    #[command(flatten)]
    pub(crate) read: ReadFlags,

    /// Print the plan: choices, rejected alternatives and the reasons
    #[arg(long, help_heading = READ)]
    pub(crate) explain: bool,
}

/// The flags that say what is read, and how.
#[derive(Args)]
pub(crate) struct ReadFlags {
    /// Stay on this file system
    ///
    /// The mount point of another file system counts as one entry of no size. statwalk
    /// enters nested btrfs subvolumes of the same mount.
    #[arg(short = 'x', long, help_heading = COUNTED)]
    pub(crate) one_file_system: bool,

    /// Skip names that match, as du does; can be repeated
    ///
    /// statwalk matches the shell pattern against the whole path and against each end
    /// of it that follows a slash. `*` matches a slash too. The report counts skipped
    /// names as excluded.
    #[arg(long, value_name = "GLOB", help_heading = COUNTED)]
    pub(crate) exclude: Vec<OsString>,

    /// Skip names that match a line of FILE
    #[arg(short = 'X', long, value_name = "FILE", help_heading = COUNTED)]
    pub(crate) exclude_from: Vec<PathBuf>,

    /// Skip directories that hold a valid CACHEDIR.TAG
    #[arg(long, help_heading = COUNTED)]
    pub(crate) exclude_caches: bool,

    /// Skip names that .gitignore files list; off by default
    ///
    /// fd and rg skip them by default. A disk tool counts every file, hidden ones too.
    #[arg(long, help_heading = COUNTED)]
    pub(crate) gitignore: bool,

    /// Enter /proc, /sys and other file systems of the kernel
    #[arg(long, help_heading = COUNTED)]
    pub(crate) include_kernfs: bool,

    /// Set the number of workers [default: adaptive]
    #[arg(short = 'j', long, value_name = "N", help_heading = READ,
        value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Set the traversal order (does not change the result) [default: parallel]
    #[arg(long, value_name = "ORDER", help_heading = READ)]
    pub(crate) order: Option<OrderChoice>,

    /// Set the metadata source: auto, posix, ext4 or btrfs [default: auto]
    ///
    /// posix asks the kernel. ext4 syncs the file system and reads the device below it,
    /// which needs the permission to read the device. With ext4, a PATH can be a device or
    /// an image file. The btrfs source syncs the file system and searches its trees, which
    /// needs CAP_SYS_ADMIN. By default statwalk takes the fastest source that works here.
    #[arg(long, value_name = "SOURCE", help_heading = READ, hide_possible_values = true)]
    pub(crate) source: Option<SourceName>,

    /// Run at low priority: few workers, idle I/O class
    #[arg(long, help_heading = READ)]
    pub(crate) nice: bool,

    /// Set the size of the directory-read buffer, from 1K to 4M [default: 32K to 128K]
    #[arg(long, value_name = "SIZE", help_heading = READ, hide_short_help = true)]
    pub(crate) buffer: Option<String>,

    /// Set the order in which the entries of a directory are stat'ed [default: listing]
    #[arg(long, value_name = "ORDER", help_heading = READ, hide_short_help = true)]
    pub(crate) stat_order: Option<StatOrderName>,

    /// Let a network file system answer from its cache
    #[arg(long, help_heading = READ, hide_short_help = true)]
    pub(crate) cached_attributes: bool,
}

/// Headings of the help.
pub(super) const COUNTED: &str = "Counting";
pub(super) const READ: &str = "Reading";
pub(super) const SHOWN: &str = "Output";
pub(super) const FILTERS: &str = "Filters";

/// The condition for colour or progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal only
    Auto,
    /// Even without a terminal
    Always,
    /// Not even on a terminal
    Never,
}

/// A traversal order, selected by the engine's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OrderChoice(pub(crate) AnyOrder);

/// The traversal orders, as the help lists them; no other list names them.
pub(crate) const ORDERS: [OrderChoice; 7] = [
    OrderChoice(AnyOrder::Order(Order::Recursive)),
    OrderChoice(AnyOrder::Order(Order::Stack)),
    OrderChoice(AnyOrder::ReservedStack),
    OrderChoice(AnyOrder::Order(Order::Queue)),
    OrderChoice(AnyOrder::Futures),
    OrderChoice(AnyOrder::Order(Order::Inode)),
    OrderChoice(AnyOrder::Order(Order::Parallel)),
];

impl PartialOrd for OrderChoice {
    fn partial_cmp(&self, other: &OrderChoice) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderChoice {
    fn cmp(&self, other: &OrderChoice) -> Ordering {
        self.0.name().cmp(other.0.name())
    }
}

impl ValueEnum for OrderChoice {
    fn value_variants<'a>() -> &'a [OrderChoice] {
        &ORDERS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            AnyOrder::Order(Order::Recursive) => {
                "Read subdirectories at once, by recursion; one worker"
            }
            AnyOrder::Order(Order::Stack) => "Read the directory that was found last (LIFO)",
            AnyOrder::ReservedStack => {
                "Same as stack, with room for a million directories from the start"
            }
            AnyOrder::Order(Order::Queue) => "Read the directory that was found first (FIFO)",
            AnyOrder::Futures => "Start a thread for each directory, up to 64 at a time",
            AnyOrder::Order(Order::Inode) => {
                "Read by inode number over the whole tree, for rotating disks and cold caches"
            }
            AnyOrder::Order(Order::Parallel) => {
                "Let each worker read the directory it found last; idle workers steal"
            }
            _ => return None,
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

/// The order in which the entries of a directory are stat'ed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatOrderName {
    /// In the order of the listing
    Listing,
    /// By inode number
    Inode,
}

/// The source of names and attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceName {
    Auto,
    Posix,
    Ext4,
    Btrfs,
}
