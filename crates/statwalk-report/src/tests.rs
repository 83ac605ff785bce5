// SPDX-License-Identifier: MIT OR Apache-2.0

//! Pages of trees in memory, read back as a viewer reads them.

mod decoded;
mod sample;

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use statwalk_view::Kind;

use self::decoded::{Block, Decoded, Shown};
use self::sample::{Item, Sample, any_tree, directory, file};
use crate::tree::number_of;
use crate::{
    Answer, Choice, Detail, Directory, NO_OWNER, NONE, Names, Page, ReportTree, Sums, html,
    markdown,
};

fn html_of<T: ReportTree>(answer: &Answer, tree: &T, detail: Detail, names: Names) -> Page {
    let (choice, ()) = Choice::beside(tree, detail, names, || ());
    html(answer, tree, choice)
}

fn page(tree: &Sample, detail: Detail) -> Decoded {
    Decoded::of(&html_of(&Answer::default(), &tree, detail, Names::Original))
}

/// Checks that a block is as the format says, and that it is exact.
fn check_block(block: &Block) {
    for (at, node) in block.nodes.iter().enumerate() {
        let children = block.children(at);
        if children.is_empty() {
            continue;
        }
        assert!(
            node.first_child as usize > at,
            "a child comes before its parent"
        );
        assert!(children.iter().all(|child| child.parent as usize == at));
        let order = children.windows(2).all(|pair| {
            let key = |shown: &Shown| (std::cmp::Reverse(shown.allocated), shown.name.clone());
            key(&pair[0]) <= key(&pair[1])
        });
        assert!(order, "children of {at} are in no order");
        let sum = |of: fn(&Shown) -> u128| children.iter().map(of).sum::<u128>();
        assert_eq!(sum(|child| child.allocated), node.allocated);
        assert_eq!(sum(|child| child.apparent), node.apparent);
        let own = u64::from(node.kind == number_of(Kind::Directory));
        let entries: u64 = children.iter().map(|child| child.entries).sum();
        assert_eq!(entries + own, node.entries);
        let rests = children
            .iter()
            .filter(|child| child.kind == number_of(Kind::Rest));
        assert!(rests.count() <= 1);
    }
}

/// Checks owners and categories of directories and sums against the tree.
fn check_most(tree: &Sample, block: &Block) {
    let mut items: Vec<(usize, &Item)> = vec![(0, &tree.root)];
    while let Some((at, item)) = items.pop() {
        let node = &block.nodes[at];
        if item.kind != Kind::Directory {
            continue;
        }
        assert_eq!((node.category, node.owner), item.most());
        let children = block.children(at);
        let by_name: HashMap<&[u8], &Item> = item
            .children
            .iter()
            .map(|child| (&child.name[..], child))
            .collect();
        let mut hidden = by_name.clone();
        for (index, child) in children.iter().enumerate() {
            if child.kind != number_of(Kind::Rest) {
                hidden.remove(&child.name[..]);
                items.push((node.first_child as usize + index, by_name[&child.name[..]]));
            }
        }
        let rest = children
            .iter()
            .find(|child| child.kind == number_of(Kind::Rest));
        if let Some(rest) = rest {
            assert!(hidden.len() > 1 || hidden.contains_key(&b""[..]));
            let hidden = directory("", hidden.into_values().cloned().collect());
            assert_eq!((rest.category, rest.owner), hidden.most());
            assert_eq!(rest.entries + 1, hidden.entries());
        } else if !children.is_empty() {
            assert_eq!(hidden.len(), 0);
        }
    }
}

/// The ranks of nodes that are in a page, and of those that are not.
#[derive(Default)]
struct Ranks {
    shown: Vec<u128>,
    hidden: Vec<u128>,
    /// How many directories with more children than are shown at least have some.
    large: usize,
}

impl Ranks {
    fn of(tree: &Sample, block: &Block) -> Ranks {
        let mut ranks = Ranks::default();
        let mut items = vec![(0, tree.root.sorted())];
        while let Some((at, item)) = items.pop() {
            let all = &item.children;
            let shown = block.children(at);
            ranks.large += usize::from(all.len() > 20 && !shown.is_empty());
            for (index, child) in all.iter().enumerate() {
                let is_it =
                    |node: &Shown| node.kind != number_of(Kind::Rest) && node.name == child.name;
                let place = shown.iter().position(is_it);
                let rank = all[if index < 20 { 0 } else { index }].allocated();
                match place {
                    None => ranks.hidden.push(rank),
                    // A sum of this one alone would stand here.
                    Some(_) if index >= 20 && index + 1 == all.len() => {}
                    Some(_) => ranks.shown.push(rank),
                }
                if let Some(place) = place {
                    let at = block.nodes[at].first_child as usize + place;
                    items.push((at, child.clone()));
                }
            }
        }
        ranks
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_number_of_nodes_is_exact(tree in any_tree(), nodes_max in 1_usize..200) {
        let tree = Sample::new(tree);
        let page = page(&tree, Detail::Nodes(nodes_max));
        let [block] = &page.blocks[..] else { panic!("there is one block") };
        check_block(block);
        check_most(&tree, block);
        let root = &block.nodes[0];
        prop_assert_eq!(root.allocated, tree.root.allocated());
        prop_assert_eq!(root.apparent, tree.root.apparent());
        prop_assert_eq!(root.entries, tree.root.entries());
        // A directory shows twenty children or none, and each can have a sum.
        prop_assert!(block.nodes.len() <= 2 * (nodes_max + 22), "{}", block.nodes.len());
        if nodes_max > tree.root.node_count() * 2 {
            prop_assert_eq!(block.nodes.len(), tree.root.node_count());
        }
    }

    #[test]
    fn no_node_is_hidden_that_is_larger_than_one_that_is_shown(
        tree in any_tree(),
        nodes_max in 1_usize..200,
    ) {
        let tree = Sample::new(tree);
        let page = page(&tree, Detail::Nodes(nodes_max));
        let [block] = &page.blocks[..] else { panic!("there is one block") };
        let ranks = Ranks::of(&tree, block);
        let least = ranks.shown.iter().min();
        prop_assert!(ranks.hidden.iter().all(|hidden| least.is_none_or(|least| hidden <= least)));
        let wanted = nodes_max.min(tree.root.node_count());
        prop_assert!(block.nodes.len() + ranks.large >= wanted, "{}", block.nodes.len());
        prop_assert!(block.nodes.len() <= wanted + 21 + 2 * ranks.large, "{}", block.nodes.len());
    }

    #[test]
    fn a_full_page_has_every_node(tree in any_tree()) {
        let tree = Sample::new(tree);
        let page = page(&tree, Detail::Full);
        page.blocks.iter().for_each(check_block);
        prop_assert_eq!(page.item(0, 0), tree.root.sorted());
    }

    #[test]
    fn no_name_is_left_in_a_redacted_page(tree in any_tree()) {
        let tree = Sample::new(tree);
        let answer = Answer {
            roots: vec![b"/secret".to_vec()],
            host: b"secret".to_vec(),
            ..Answer::default()
        };
        for detail in [Detail::Nodes(10), Detail::Full] {
            let page = Decoded::of(&html_of(&answer, &&tree, detail, Names::Redacted));
            for node in page.blocks.iter().flat_map(|block| &block.nodes) {
                prop_assert!(is_redacted(&node.name), "{:?}", node.name);
            }
            prop_assert_eq!(&page.meta["is_redacted"], true);
            prop_assert!(!page.meta.to_string().contains("secret"));
        }
    }
}

fn is_redacted(name: &[u8]) -> bool {
    let Some((word, number)) = str::from_utf8(name)
        .ok()
        .and_then(|name| name.split_once('-'))
    else {
        return name.is_empty();
    };
    let number = number.split('.').next().unwrap_or_default();
    matches!(word, "/root" | "dir" | "file" | "link" | "other") && number.parse::<u32>().is_ok()
}

/// A tree of more than one block, with directories that are larger than a block.
fn large_tree() -> Sample {
    let files = |count: u64, bytes| {
        let files = (0..count).map(|number| file(&format!("{number:06}.log"), bytes, number));
        files.collect::<Vec<_>>()
    };
    let mut children = vec![directory("wide", files(70_000, 3))];
    for number in 0..400 {
        let deep = directory("deep", files(150, 1));
        children.push(directory(
            &format!("d{number}"),
            [files(50, 2), vec![deep]].concat(),
        ));
    }
    children.push(directory("wrap", vec![directory("wide", files(66_000, 9))]));
    children.push(directory("empty", Vec::new()));
    Sample::new(directory("/srv", children))
}

#[test]
fn a_large_tree_fits_into_blocks() {
    let tree = large_tree();
    let page = page(&tree, Detail::Full);
    assert!(page.blocks.len() > 3, "{} blocks", page.blocks.len());
    page.blocks.iter().for_each(check_block);
    assert!(
        page.item(0, 0) == tree.root.sorted(),
        "another tree came back"
    );
    let nodes: usize = page.blocks.iter().map(|block| block.nodes.len()).sum();
    assert_eq!(page.meta["detail"]["nodes"], nodes.to_string());
    for block in &page.blocks {
        assert!(block.nodes.len() < 140_000, "{} nodes", block.nodes.len());
    }
}

#[test]
fn a_choice_of_many_stripes_is_exact() {
    let tree = large_tree();
    for nodes_max in [8_191, 8_192, 8_193, 40_000, 200_000] {
        let page = page(&tree, Detail::Nodes(nodes_max));
        let [block] = &page.blocks[..] else {
            panic!("there is one block")
        };
        assert!(block.nodes.len().abs_diff(nodes_max) < 500 || nodes_max == 200_000);
        check_block(block);
        check_most(&tree, block);
    }
}

#[test]
fn the_largest_are_chosen_and_the_rest_is_one_sum() {
    let files = (0..1000).map(|number| file(&format!("f{number:03}"), number, 0));
    let small = directory(
        "small",
        (0..9).map(|n| file(&format!("s{n}"), 1, 0)).collect(),
    );
    let tree = Sample::new(directory("/srv", files.chain([small]).collect()));
    let page = page(&tree, Detail::Nodes(100));
    let [block] = &page.blocks[..] else {
        panic!("there is one block")
    };
    let names: Vec<_> = block
        .children(0)
        .iter()
        .map(|child| child.name.clone())
        .collect();
    assert_eq!(block.children(0)[0].kind, number_of(Kind::Rest));
    assert_eq!((&names[1][..], &names[2][..]), (&b"f999"[..], &b"f998"[..]));
    assert!((98..=101).contains(&names.len()), "{}", names.len());
    assert!(!names.contains(&b"small".to_vec()));
}

#[test]
fn a_rest_of_one_is_that_one() {
    let files = (0..21).map(|number| file(&format!("f{number}"), 5, 0));
    let tree = Sample::new(directory("/srv", files.collect()));
    let page = page(&tree, Detail::Nodes(5));
    assert_eq!(page.blocks[0].nodes.len(), 22);
    assert_eq!(page.item(0, 0), tree.root.sorted());
}

#[test]
fn the_directory_itself_alone_is_no_sum() {
    let mut children: Vec<_> = (0..20)
        .map(|number| file(&format!("f{number}"), 50, 0))
        .collect();
    children.push(Item::itself(3));
    let tree = Sample::new(directory("/srv", children));
    let page = page(&tree, Detail::Nodes(5));
    let last = page.blocks[0].nodes.last().unwrap();
    assert_eq!(
        (last.kind, last.allocated, last.entries),
        (number_of(Kind::Itself), 3, 0)
    );
}

#[test]
fn sums_beyond_64_bits_are_exact() {
    let huge = |name: &str| Item {
        apparent: u128::from(u64::MAX >> 1),
        ..file(name, u64::MAX >> 1, 0)
    };
    let beside = directory("b", vec![huge("1"), huge("2"), huge("3"), file("4", 7, 0)]);
    let tree = Sample::new(directory(
        "/srv",
        vec![directory("a", vec![huge("x")]), beside],
    ));
    for detail in [Detail::Nodes(4), Detail::Nodes(100), Detail::Full] {
        let page = page(&tree, detail);
        page.blocks.iter().for_each(check_block);
        assert_eq!(
            page.blocks[0].nodes[0].allocated,
            4 * u128::from(u64::MAX >> 1) + 7
        );
    }
}

#[test]
fn sums_beyond_64_bits_can_be_in_some_stripes_alone() {
    let huge = (0..3).map(|number| file(&format!("huge{number}"), u64::MAX - 9, 0));
    let small = (0..20_000).map(|number| file(&format!("{number:06}"), 1, 0));
    let below = directory("below", huge.clone().collect());
    for children in [
        huge.chain(small.clone()).collect::<Vec<_>>(),
        small.chain([below]).collect(),
    ] {
        let tree = Sample::new(directory("/srv", children));
        for detail in [Detail::default(), Detail::Full] {
            let page = page(&tree, detail);
            page.blocks.iter().for_each(check_block);
            let sum = 3 * u128::from(u64::MAX - 9) + 20_000;
            assert_eq!(page.blocks[0].nodes[0].allocated, sum);
        }
    }
}

#[test]
fn trees_of_little_are_pages_too() {
    let only_file = Sample::new(file("/srv/a.iso", 5, 3));
    let page_of_file = page(&only_file, Detail::default());
    assert_eq!(page_of_file.item(0, 0), only_file.root);
    let empty = Sample::new(directory("/srv", Vec::new()));
    for detail in [Detail::Nodes(0), Detail::default(), Detail::Full] {
        let page = page(&empty, detail);
        assert_eq!(page.blocks[0].nodes.len(), 1);
        let node = &page.blocks[0].nodes[0];
        assert_eq!((node.category, node.owner), (NONE, NO_OWNER));
    }
}

#[test]
fn a_deep_tree_does_not_end_the_stack() {
    let mut tree = file("leaf", 1, 0);
    for _ in 0..3_000 {
        tree = directory("d", vec![tree]);
    }
    let tree = Sample::new(tree);
    for detail in [Detail::Nodes(100), Detail::default(), Detail::Full] {
        let page = page(&tree, detail);
        assert_eq!(page.blocks[0].nodes[0].entries, 3_001);
    }
}

#[test]
fn the_same_answer_gives_the_same_bytes() {
    let tree = large_tree();
    for detail in [Detail::default(), Detail::Full] {
        let bytes = |tree: &Sample| {
            let page = html_of(&Answer::default(), &tree, detail, Names::Original);
            page.pieces().collect::<Vec<_>>().concat()
        };
        let mut shuffled = tree.clone();
        shuffled.root.children.reverse();
        assert!(bytes(&tree) == bytes(&shuffled), "{detail:?}");
    }
}

/// Names that would be something else in HTML, JSON, a terminal or Markdown.
const HOSTILE: [&[u8]; 9] = [
    b"<img src=x onerror=alert(1)>",
    b"</script><script>alert(1)</script>",
    b"<!--",
    b"new\nline\x1b[2J",
    "right\u{202e}left \u{2028}\u{2029}".as_bytes(),
    b"\xff\xfe invalid",
    b"{{META}}",
    b"`code` | **bold** [a](javascript:x) &amp;",
    &[b'n'; 255],
];

#[test]
fn hostile_names_stay_data() {
    let files = HOSTILE.iter().map(|name| Item {
        name: name.to_vec(),
        ..file("", 9, 0)
    });
    let tree = Sample::new(directory("/srv", files.collect()));
    let path = |name: &&[u8]| [b"/srv/", *name].concat();
    let answer = Answer {
        roots: HOSTILE.iter().map(path).collect(),
        host: HOSTILE.concat(),
        options: HOSTILE.iter().map(|name| name.to_vec()).collect(),
        directories: (HOSTILE.iter().map(path))
            .map(|path| Directory {
                path,
                sums: Sums::default(),
                is_incomplete: false,
            })
            .collect(),
        ..Answer::default()
    };
    let page = html_of(&answer, &&tree, Detail::default(), Names::Original);
    let bytes = page.pieces().collect::<Vec<_>>().concat();
    let text = String::from_utf8(bytes).expect("a page is UTF-8");
    for forbidden in [
        "<img",
        "alert(1)</script>",
        "<!--",
        "\x1b",
        "\u{202e}",
        "\u{2028}",
    ] {
        assert!(!text.contains(forbidden), "{forbidden:?}");
    }
    let decoded = Decoded::of(&page);
    assert_eq!(decoded.item(0, 0), tree.root.sorted());
    for (name, root) in HOSTILE
        .iter()
        .zip(decoded.meta["roots"].as_array().unwrap())
    {
        let shown = root["text"].as_str().unwrap();
        match root.get("raw") {
            None => assert_eq!(shown.as_bytes(), path(name)),
            Some(raw) => {
                assert_eq!(STANDARD.decode(raw.as_str().unwrap()).unwrap(), path(name));
                assert!(!shown.contains('\u{fffd}'));
            }
        }
    }
    let text = markdown(&answer, Names::Original);
    for line in text.lines().filter(|line| line.contains("/srv/")) {
        assert!(line.starts_with("# ") || line.ends_with('`'), "{line}");
        assert!(
            !line.contains('\x1b') && !line.contains('\u{202e}'),
            "{line}"
        );
    }
}
