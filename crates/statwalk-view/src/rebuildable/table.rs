// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tables: the rules, which `rules.txt` has, and places in which none holds.

use std::sync::LazyLock;

use super::rule::{Need, Rule, Scope};

/// Places that belong to a program with all that is in them.
///
/// There the results of a build are a part of an installation, of an image or of a backup.
pub const CLOSED: &[&str] = &[
    // Packages, when no rule holds for the directory of them.
    "node_modules",
    "site-packages",
    "dist-packages",
    "lib/python2.*",
    "lib/python3.*",
    "lib64/python3.*",
    // FHS 3.0, chapter 4: the hierarchy of the system.
    "usr/lib",
    "usr/lib32",
    "usr/lib64",
    "usr/libexec",
    "usr/share",
    // Stores of package managers.
    "nix/store",
    "gnu/store",
    "ostree/repo",
    "var/lib/flatpak",
    "share/flatpak",
    "var/lib/snapd",
    // Layers of images, docs.docker.com/engine/storage/drivers and containers-storage.conf(5).
    "docker/overlay2",
    "docker/btrfs",
    "docker/zfs",
    "docker/vfs",
    "containers/storage",
    "io.containerd.*",
    // Snapshots and the trash.
    ".snapshots",
    "timeshift/snapshots",
    "share/Trash",
    ".Trash",
    ".Trash-*",
    // Programs of other systems.
    "Library/Application Support",
    "AppData",
    // Version control.
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".bzr",
];

/// Files of projects: a directory that holds one is no place for results alone.
pub const PROJECTS: &str = "Cargo.toml package.json pyproject.toml setup.py pom.xml build.gradle \
    build.gradle.kts CMakeLists.txt meson.build Makefile go.mod";

/// The rules.
pub static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let mut scope = Scope::Project;
    let lines = include_str!("rules.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rules = lines.filter_map(|line| match line {
        "[project]" | "[everywhere]" => {
            scope = match line {
                "[project]" => Scope::Project,
                _ => Scope::Everywhere,
            };
            None
        }
        line => Some(rule(scope, line)),
    });
    rules.collect()
});

fn rule(scope: Scope, line: &'static str) -> Rule {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let &[names, needs, rebuilt_by, origin] = &fields[..] else {
        panic!("a rule has four fields: {line}");
    };
    let needs = needs.split("; ").filter(|need| !need.is_empty());
    Rule {
        names,
        needs: needs.map(need).collect(),
        scope,
        rebuilt_by,
        origin,
    }
}

fn need(text: &'static str) -> Need {
    let (word, names) = text.split_once(' ').unwrap_or((text, ""));
    let names = match names {
        "projects" => PROJECTS,
        names => names,
    };
    match word {
        "beside" => Need::Beside(names),
        "inside" => Need::Inside(names),
        "without" => Need::Without(names),
        "without-below" => Need::WithoutBelow(names),
        "valid-tag" => Need::ValidTag,
        _ => panic!("no need: {text}"),
    }
}
