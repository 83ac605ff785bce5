// SPDX-License-Identifier: MIT OR Apache-2.0

//! The subjects of the rows, each of which has a number and a title.

use statwalk_group::Grouping;

/// The subject of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum View {
    #[default]
    Tree,
    Largest,
    Groups(Grouping),
    Errors,
    Marks,
    /// The directories that a program makes again.
    Rebuildable,
    /// The results of a search.
    Found,
}

impl View {
    pub(crate) const ALL: [(View, &'static str); 10] = [
        (View::Tree, "Tree"),
        (View::Largest, "Largest"),
        (View::Groups(Grouping::Category), "Types"),
        (View::Groups(Grouping::Owner), "Owners"),
        (View::Groups(Grouping::Age), "Ages"),
        (View::Groups(Grouping::Size), "Sizes"),
        (View::Errors, "Errors"),
        (View::Marks, "Marks"),
        (View::Rebuildable, "Rebuildable"),
        (View::Found, "Search"),
    ];

    pub(crate) fn number(self) -> usize {
        // Endings are the finer form of the types.
        let view = match self {
            View::Groups(Grouping::Type) => View::Groups(Grouping::Category),
            view => view,
        };
        let place = Self::ALL.iter().position(|(known, _)| *known == view);
        place.unwrap_or(0)
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            View::Groups(Grouping::Type) => "Endings",
            view => Self::ALL[view.number()].1,
        }
    }

    pub(crate) fn step(self, by: usize) -> View {
        Self::ALL[(self.number() + by) % Self::ALL.len()].0
    }
}
