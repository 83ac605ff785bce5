// SPDX-License-Identifier: MIT OR Apache-2.0

//! The characters that a terminal can show, and the signs drawn with them.

/// The characters that a terminal can show.
///
/// [`Ascii`](Self::Ascii) is for terminals whose locale is not UTF-8. There it is a
/// matter of safety, too: the bytes of a UTF-8 text contain 0x80 to 0x9F. Such a
/// terminal may take them for control characters, so [`escape`](crate::escape()) then
/// escapes everything that is not ASCII.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8: box drawing, eighth blocks, names in any script.
    #[default]
    Unicode,
    /// Printable ASCII only.
    Ascii,
}

impl Charset {
    /// Returns the mark of left-out text.
    #[must_use]
    pub fn ellipsis(self) -> &'static str {
        match self {
            Charset::Unicode => "…",
            Charset::Ascii => "...",
        }
    }

    /// Returns the sign between the parts of the progress line.
    pub(crate) fn separator(self) -> &'static str {
        match self {
            Charset::Unicode => " · ",
            Charset::Ascii => ", ",
        }
    }

    /// Returns the sign for an absent value.
    #[must_use]
    pub fn absent(self) -> &'static str {
        match self {
            Charset::Unicode => "–",
            Charset::Ascii => "-",
        }
    }

    /// Returns the frames of the turning sign of the progress line.
    pub(crate) fn spinner(self) -> &'static [&'static str] {
        match self {
            Charset::Unicode => &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
            Charset::Ascii => &["|", "/", "-", "\\"],
        }
    }

    /// Returns the branch that leads to a row of the tree.
    pub(crate) fn branch(self, position: Position) -> &'static str {
        match (self, position) {
            (Charset::Unicode, Position::Inner) => "├── ",
            (Charset::Unicode, Position::Last) => "└── ",
            (Charset::Ascii, Position::Inner) => "|-- ",
            (Charset::Ascii, Position::Last) => "`-- ",
        }
    }

    /// Returns the guide in the rows below a branch, left of its subtree.
    pub(crate) fn guide(self, position: Position) -> &'static str {
        match (self, position) {
            (Charset::Unicode, Position::Inner) => "│   ",
            (Charset::Ascii, Position::Inner) => "|   ",
            (_, Position::Last) => "    ",
        }
    }

    /// Returns the sign for the outer guides if there is no room for all.
    pub(crate) fn guide_cut(self) -> &'static str {
        match self {
            Charset::Unicode => "…   ",
            Charset::Ascii => "... ",
        }
    }
}

/// The place of a row among its siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// More siblings follow.
    Inner,
    /// The last of the siblings.
    Last,
}
