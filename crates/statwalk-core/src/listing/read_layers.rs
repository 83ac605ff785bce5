// SPDX-License-Identifier: MIT OR Apache-2.0

//! The layers of overlays that the scan has read.
//!
//! The scan leaves an overlay out if it has read all its layers, and left out nothing in
//! them. In doubt it reads the overlay, too.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use crate::directory::Place;
use crate::entry::{DirId, FileId};
use crate::lock::lock;

/// The layers of overlays that the scan has read.
#[derive(Debug, Default)]
pub(super) struct ReadLayers {
    layers: Mutex<HashMap<DirId, ReadLayer>>,
}

#[derive(Debug)]
struct ReadLayer {
    id: FileId,
    /// Whether nothing in it was left out until now.
    is_whole: bool,
}

impl ReadLayers {
    /// Notes that a layer is read, as this directory of the scan.
    pub(super) fn begin(&self, dir: DirId, id: FileId) {
        let layer = ReadLayer { id, is_whole: true };
        lock(&self.layers).entry(dir).or_insert(layer);
    }

    /// Notes that something in a directory was left out.
    pub(super) fn lack(&self, dir: Option<DirId>, place: &Place) {
        let mut layers = lock(&self.layers);
        if layers.is_empty() {
            return;
        }
        let above = std::iter::successors(place.parent(), |dir| dir.place.parent());
        for id in dir.into_iter().chain(above.map(|dir| dir.id)) {
            if let Some(layer) = layers.get_mut(&id) {
                layer.is_whole = false;
            }
        }
    }

    /// Whether the scan has read all these directories, and left out nothing in them.
    pub(super) fn have_all(&self, wanted: &[FileId]) -> bool {
        let layers = lock(&self.layers);
        let whole = layers.values().filter(|layer| layer.is_whole);
        let whole: HashSet<FileId> = whole.map(|layer| layer.id).collect();
        wanted.iter().all(|layer| whole.contains(layer))
    }
}
