// SPDX-License-Identifier: MIT OR Apache-2.0

//! The points that are tried as a new user would: words for a shell, and keys.

/// A point that was tried.
pub(crate) struct Point {
    /// The name of its file.
    pub(crate) name: &'static str,
    /// What the user wants.
    pub(crate) wish: &'static str,
    /// The line for the shell.
    pub(crate) line: &'static str,
    /// The keys after it, by tmux' names. More than one letter without such a name is typed.
    pub(crate) keys: &'static [&'static str],
}

const fn point(
    name: &'static str,
    wish: &'static str,
    line: &'static str,
    keys: &'static [&'static str],
) -> Point {
    Point {
        name,
        wish,
        line,
        keys,
    }
}

/// In the order of their page.
pub(crate) const POINTS: &[Point] = &[
    point(
        "default",
        "Where did the space go? A directory is unreadable.",
        "statwalk /srv",
        &[],
    ),
    point(
        "names",
        "How much do directories of this name take?",
        "statwalk -g node_modules /srv",
        &[],
    ),
    point(
        "top",
        "The largest files, with whole paths.",
        "statwalk top /srv",
        &[],
    ),
    point(
        "top-rebuildable",
        "All that a program can make again.",
        "statwalk top --rebuildable /srv",
        &[],
    ),
    point(
        "stats",
        "The kinds of files that take the space.",
        "statwalk stats /srv",
        &[],
    ),
    point("df", "Why do df and du disagree?", "statwalk df /srv", &[]),
    point(
        "tip-top",
        "A flag that another program has.",
        "statwalk --top 5",
        &[],
    ),
    point(
        "tip-file",
        "A file for the answer.",
        "statwalk -o report.txt",
        &[],
    ),
    point(
        "tip-order",
        "A pattern before the path.",
        "statwalk find gz .",
        &[],
    ),
    point("tip-find", "A test of find.", "statwalk find -ls", &[]),
    point(
        "help",
        "The keys, and the mouse.",
        "statwalk browse ana",
        &["?", "mouse"],
    ),
    point(
        "search",
        "A name, somewhere below.",
        "statwalk browse ana",
        &["F", "*.mp4", "Enter", "Space"],
    ),
    point(
        "filter",
        "A filter that passes nothing says why.",
        "statwalk browse ana",
        &["f", "+9T", "Enter"],
    ),
    point(
        "filter-name",
        "A name in the filter form.",
        "statwalk browse ana",
        &["f", "Up", "*.zip", "Enter"],
    ),
    point(
        "rebuildable",
        "The same in the browser, ready to be marked.",
        "statwalk browse ana",
        &["9", "*"],
    ),
    point(
        "quit",
        "q with marks asks once.",
        "statwalk browse ana",
        &["Space", "q"],
    ),
    point(
        "dialog",
        "The dialog says where the trash is, and which key removes.",
        "statwalk browse --enable-delete ana/Downloads",
        &["d", "Tab"],
    ),
    point(
        "dialog-large",
        "Above 1,000 entries it says why y does nothing.",
        "statwalk browse --enable-delete ana/projects",
        &["d"],
    ),
    point(
        "dialog-refused",
        "An item that must stay.",
        "cd ana/projects; statwalk browse --enable-delete ..",
        &["/", "proj", "Enter", "d"],
    ),
];
