// SPDX-License-Identifier: MIT OR Apache-2.0

//! Delivers entries outside a listing: roots that are files, directories that cannot be
//! read or are not entered, and files that took the place of a directory.

use std::ffi::CStr;
use std::sync::Arc;

use super::Lister;
use super::delivery::deliver;
use super::outlet::{Events, ListedBy};
use super::source::DirectorySource;
use crate::directory::{Dir, DirState, Directory, Place};
use crate::entry::{Attributes, FileType};
use crate::error::Op;
use crate::failure::Failure;

impl<D: DirectorySource> Lister<D> {
    /// Delivers a root that is not a directory.
    pub(super) fn root_file(
        &mut self,
        path: &CStr,
        root: u32,
        found: &Attributes,
        out: &mut dyn Events,
    ) {
        let place = Place::File(Arc::from(path));
        let directory = Directory::of(&place, out.next_id(), root, 0);
        self.contents.clear();
        self.contents.batch.push_stated(path.to_bytes(), found);
        deliver(&directory, false, &self.contents, out);
    }

    /// Delivers a directory that cannot be read, and reports the error.
    pub(crate) fn unreadable(
        &mut self,
        place: &Place,
        root: u32,
        depth: u32,
        found: Option<&Attributes>,
        failure: Failure,
        out: &mut dyn Events,
    ) {
        let directory = Directory::of(place, out.next_id(), root, depth);
        let directory = Directory {
            attributes: found.unwrap_or(directory.attributes),
            state: DirState::Unreadable,
            refusal: found.is_none().then(|| failure.errno()),
            ..directory
        };
        out.deliver(&directory, true, &[]);
        out.incomplete(&directory);
        out.failed(root, place.path(), Op::Open, failure);
        out.listed(&directory, ListedBy::One);
        out.finished(&directory);
    }

    /// Delivers the second names of subdirectories as errors.
    ///
    /// A directory has one name in a sound file system.
    pub(crate) fn deliver_doubles(
        &mut self,
        parent: &Arc<Dir>,
        offsets: &[u32],
        out: &mut dyn Events,
    ) {
        for &offset in offsets {
            let place = Place::Child(Arc::clone(parent), offset);
            self.unreadable_child(&place, None, Failure::DAMAGED, out);
        }
    }

    /// Delivers a directory that the scan does not enter, as an entry without size.
    pub(crate) fn left_standing(
        &mut self,
        place: &Place,
        root: u32,
        depth: u32,
        state: DirState,
        out: &mut dyn Events,
    ) {
        let nothing = Attributes::of_type(FileType::Directory);
        self.without_entries((place, root, depth), &nothing, state, out);
    }

    /// Delivers a directory at the depth limit.
    pub(crate) fn at_limit(
        &mut self,
        place: &Place,
        root: u32,
        depth: u32,
        attributes: &Attributes,
        out: &mut dyn Events,
    ) {
        let state = DirState::AtDepthLimit;
        self.without_entries((place, root, depth), attributes, state, out);
    }

    fn without_entries(
        &self,
        (place, root, depth): (&Place, u32, u32),
        attributes: &Attributes,
        state: DirState,
        out: &mut dyn Events,
    ) {
        self.context.lack(None, place);
        let directory = Directory {
            attributes,
            state,
            is_last: true,
            ..Directory::of(place, out.next_id(), root, depth)
        };
        out.deliver(&directory, true, &[]);
    }

    /// Delivers one entry of a delivered directory.
    ///
    /// `followed` says that the attributes are those of a link's target.
    pub(super) fn deliver_alone(
        &mut self,
        parent: &Arc<Dir>,
        name: &CStr,
        found: &Attributes,
        followed: bool,
        out: &mut dyn Events,
    ) {
        let view = parent.view();
        let directory = Directory {
            followed: view.followed || followed,
            ..view
        };
        self.contents.clear();
        if self.context.options.wanted.need_stat() {
            self.contents.batch.push_stated(name.to_bytes(), found);
        } else {
            self.contents
                .batch
                .push_listed(name.to_bytes(), found.kind, false);
        }
        deliver(&directory, false, &self.contents, out);
    }
}
