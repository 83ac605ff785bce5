// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names that lead to an item. They outlive the numbers of a scan.

use std::collections::HashMap;
use std::ops::ControlFlow;

use statwalk_view::Kind;

use crate::data::{Data, ItemId};

/// The names from a root to an item, and the kind of the item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Way {
    names: Vec<Vec<u8>>,
    kind: Kind,
}

/// Ways that have their first names in common.
struct Branch<'w> {
    dir: ItemId,
    /// The number of those names.
    depth: usize,
    ways: Vec<&'w Way>,
}

impl Way {
    /// The way to an item; absent where no root leads there.
    pub(crate) fn to(id: ItemId, data: &dyn Data) -> Option<Way> {
        let item = data.item(id)?;
        let (kind, mut names) = (item.kind, vec![item.name.into_owned()]);
        let mut next = data.parent(id);
        while let Some(id) = next {
            names.push(data.item(id)?.name.into_owned());
            next = data.parent(id);
        }
        names.reverse();
        Some(Way { names, kind })
    }
}

/// The items at the ends of ways, of the same kinds as before. Ways that end nowhere, or at
/// another kind, have none.
///
/// It looks at each directory on the ways once.
pub(crate) fn find(ways: &[Way], data: &dyn Data) -> Vec<ItemId> {
    let (mut found, mut branches) = (Vec::new(), Vec::new());
    let mut roots = by_name(ways.iter(), 0);
    for id in data.roots() {
        if let Some(item) = data.item(id)
            && let Some(ways) = roots.remove(&*item.name)
        {
            follow(ways, id, item.kind, 1, &mut found, &mut branches);
        }
    }
    while let Some(Branch { dir, depth, ways }) = branches.pop() {
        let mut wanted = by_name(ways.into_iter(), depth);
        data.children(dir, &mut |id, item| {
            if let Some(ways) = wanted.remove(&*item.name) {
                follow(ways, id, item.kind, depth + 1, &mut found, &mut branches);
            }
            match wanted.is_empty() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
    }
    found
}

/// The item at a path that begins with a root as the user gave it; absent where it is not
/// in the data.
///
/// It looks at each directory on the way.
pub fn item_at(path: &[u8], data: &dyn Data) -> Option<ItemId> {
    data.roots().into_iter().find_map(|root| {
        let name = data.item(root)?.name.into_owned();
        let rest = path.strip_prefix(&name[..])?;
        if !rest.is_empty() && !rest.starts_with(b"/") && !name.ends_with(b"/") {
            return None;
        }
        let mut names = rest.split(|&byte| byte == b'/');
        let mut names = names.by_ref().filter(|name| !name.is_empty());
        names.try_fold(root, |dir, name| child(data, dir, name))
    })
}

/// The entry of this name in a directory.
pub fn child(data: &dyn Data, dir: ItemId, name: &[u8]) -> Option<ItemId> {
    let mut found = None;
    data.children(dir, &mut |id, item| match *item.name == *name {
        true => {
            found = Some(id);
            ControlFlow::Break(())
        }
        false => ControlFlow::Continue(()),
    });
    found
}

fn by_name<'w>(
    ways: impl Iterator<Item = &'w Way>,
    depth: usize,
) -> HashMap<&'w [u8], Vec<&'w Way>> {
    let mut wanted: HashMap<&[u8], Vec<&Way>> = HashMap::new();
    for way in ways {
        wanted.entry(&way.names[depth]).or_default().push(way);
    }
    wanted
}

/// Takes the item that so many names of these ways lead to.
fn follow<'w>(
    ways: Vec<&'w Way>,
    id: ItemId,
    kind: Kind,
    depth: usize,
    found: &mut Vec<ItemId>,
    branches: &mut Vec<Branch<'w>>,
) {
    let (ending, longer): (Vec<&Way>, _) =
        (ways.into_iter()).partition(|way| way.names.len() == depth);
    if ending.iter().any(|way| way.kind == kind) {
        found.push(id);
    }
    if kind == Kind::Directory && !longer.is_empty() {
        branches.push(Branch {
            dir: id,
            depth,
            ways: longer,
        });
    }
}
