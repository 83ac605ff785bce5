// SPDX-License-Identifier: MIT OR Apache-2.0

//! The options of a scan, each declared once.
//!
//! `tests/options.rs` compares signatures and documentation of every language with them.

/// A language with a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// The C library. `statwalk.hpp` drops the prefixes of its functions.
    C,
    /// The Python module.
    Python,
    /// The Node package.
    Node,
    /// The Java library.
    Java,
}

/// The values that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// Yes or no. The default is no.
    Flag,
    /// A whole number from 0 to another.
    Number {
        /// The largest one.
        most: u32,
        /// The value where the caller gives none; absent for no limit.
        default: Option<u32>,
    },
    /// Shell patterns. The default is none.
    Patterns,
}

/// An option of a scan.
#[derive(Clone, Copy, Debug)]
pub struct ScanOption {
    /// One sentence for the documentation of every language.
    pub meaning: &'static str,
    /// The values that it takes.
    pub kind: OptionKind,
    /// The names in C, Python, Node and Java; empty where a language lacks the option.
    names: [&'static str; 4],
}

impl ScanOption {
    /// The name in a language; absent where that lacks the option.
    #[must_use]
    pub fn name(&self, language: Language) -> Option<&'static str> {
        let name = self.names[language as usize];
        (!name.is_empty()).then_some(name)
    }
}

/// The words for a number that an option does not take.
///
/// ```
/// let words = statwalk_stream::number_refused("depth", 9, "-1");
/// assert_eq!(words, "depth is a whole number from 0 to 9, and not -1");
/// ```
#[must_use]
pub fn number_refused(name: &str, most: u32, value: &str) -> String {
    format!("{name} is a whole number from 0 to {most}, and not {value}")
}

/// All options, in the order of the documentation.
pub const OPTIONS: [ScanOption; 12] = [
    ScanOption {
        meaning: "The number of threads; 0 lets the scan decide.",
        kind: OptionKind::Number {
            most: u32::MAX,
            default: Some(0),
        },
        names: ["sw_scan_set_threads", "threads", "threads", "withThreads"],
    },
    ScanOption {
        meaning: "How far the threads stand behind others for a processor, as nice(1) has it.",
        kind: OptionKind::Number {
            most: 19,
            // Others wait for the event loop.
            default: Some(10),
        },
        names: ["", "", "niceness", ""],
    },
    ScanOption {
        meaning: "How deep the scan goes: a root has depth 0, and its entries have depth 1.",
        kind: OptionKind::Number {
            most: u32::MAX,
            default: None,
        },
        names: [
            "sw_scan_set_max_depth",
            "max_depth",
            "maxDepth",
            "withMaxDepth",
        ],
    },
    ScanOption {
        meaning: "Give nothing above this depth; the directories there are read all the same.",
        kind: OptionKind::Number {
            most: u32::MAX,
            default: Some(0),
        },
        names: [
            "sw_scan_set_min_depth",
            "min_depth",
            "minDepth",
            "withMinDepth",
        ],
    },
    ScanOption {
        meaning: "Sort names within a directory by their bytes, and go into each at once.",
        kind: OptionKind::Flag,
        names: ["SW_SORT", "sort", "sort", "withSort"],
    },
    ScanOption {
        meaning: "Give a directory after all that is below it, and sort names.",
        kind: OptionKind::Flag,
        names: [
            "SW_CONTENTS_FIRST",
            "contents_first",
            "contentsFirst",
            "withContentsFirst",
        ],
    },
    ScanOption {
        meaning: "Stay on the file system of the root.",
        kind: OptionKind::Flag,
        names: [
            "SW_ONE_FILE_SYSTEM",
            "one_file_system",
            "oneFileSystem",
            "withOneFileSystem",
        ],
    },
    ScanOption {
        meaning: "A symbolic link stands for what it leads to, and nothing is listed twice.",
        kind: OptionKind::Flag,
        names: [
            "SW_FOLLOW_LINKS",
            "follow_links",
            "followLinks",
            "withFollowLinks",
        ],
    },
    ScanOption {
        meaning: "Enter /proc and its like, which are left out otherwise.",
        kind: OptionKind::Flag,
        names: [
            "SW_KERNEL_FILE_SYSTEMS",
            "kernel_file_systems",
            "kernelFileSystems",
            "withKernelFileSystems",
        ],
    },
    ScanOption {
        meaning: "Leave out paths that fit a shell pattern, or one of several, as du --exclude does.",
        kind: OptionKind::Patterns,
        names: ["sw_scan_exclude", "exclude", "exclude", "withExclude"],
    },
    ScanOption {
        meaning: "Leave out what .gitignore files name, by the rules of git.",
        kind: OptionKind::Flag,
        names: ["SW_GITIGNORE", "gitignore", "gitignore", "withGitignore"],
    },
    ScanOption {
        meaning: "Read devices where that is faster and allowed; it installs a handler of SIGBUS.",
        kind: OptionKind::Flag,
        names: ["SW_DEVICES", "", "", ""],
    },
];
