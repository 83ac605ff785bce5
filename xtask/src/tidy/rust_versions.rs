// SPDX-License-Identifier: MIT OR Apache-2.0

//! The oldest Rust that builds the product: no dependency of it may ask for a
//! newer one. Dependencies of tests may.
//!
//! This trusts `rust-version` in the manifests. `docs/platform.md` lists the other
//! checks, and the missing one.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::step::Step;

pub(super) fn check(faults: &mut Vec<String>) {
    let words = ["metadata", "--format-version=1", "--locked", "--quiet"];
    let metadata = Step::cargo(&words).output();
    match metadata.and_then(|text| serde_json::from_str(&text).map_err(|e| e.to_string())) {
        Ok(metadata) => faults.extend(faults_of(&metadata)),
        Err(error) => faults.push(format!("cargo metadata: {error}")),
    }
}

/// Major, minor, patch.
type Version = [u64; 3];

/// Members whose `rust-version` is too old, by the output of `cargo metadata`.
fn faults_of(metadata: &Value) -> Vec<String> {
    let packages = list(&metadata["packages"]);
    let package = |id: &Value| packages.iter().find(|package| package["id"] == *id);
    let members = list(&metadata["workspace_members"]);
    let published = members
        .iter()
        .filter_map(package)
        .filter(|package| package["publish"].is_null());
    let mut faults = Vec::new();
    for member in published {
        let name = member["name"].as_str().unwrap_or_default();
        let Some(promised) = version_of(member) else {
            faults.push(format!("{name}: no rust-version in its manifest"));
            continue;
        };
        for id in built_from(metadata, &member["id"]) {
            let Some(dependency) = package(&id) else {
                faults.push(format!("{name}: {id} is no package"));
                continue;
            };
            if version_of(dependency).is_some_and(|asked| asked > promised) {
                faults.push(format!(
                    "{name}: promises Rust {}, and {} {} asks for {}",
                    text(&member["rust_version"]),
                    text(&dependency["name"]),
                    text(&dependency["version"]),
                    text(&dependency["rust_version"]),
                ));
            }
        }
    }
    faults
}

/// The packages that are compiled to build one, on any platform.
fn built_from(metadata: &Value, root: &Value) -> Vec<Value> {
    let nodes = list(&metadata["resolve"]["nodes"]);
    let mut seen = BTreeSet::from([text(root).to_owned()]);
    let mut found = vec![root.clone()];
    let mut next = 0;
    while next < found.len() {
        let node = nodes.iter().find(|node| node["id"] == found[next]);
        let deps = node.map_or(&[][..], |node| list(&node["deps"]));
        let built = deps.iter().filter(|dep| {
            let kinds = list(&dep["dep_kinds"]);
            kinds.iter().any(|kind| kind["kind"] != "dev")
        });
        let fresh: Vec<Value> = built
            .map(|dep| dep["pkg"].clone())
            .filter(|id| seen.insert(text(id).to_owned()))
            .collect();
        found.extend(fresh);
        next += 1;
    }
    found
}

/// `1.88` and `1.88.0` are the same.
fn version_of(package: &Value) -> Option<Version> {
    let mut version = [0; 3];
    let parts = package["rust_version"].as_str()?.split('.');
    for (place, part) in version.iter_mut().zip(parts) {
        *place = part.parse().ok()?;
    }
    Some(version)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A program that needs `direct`, which needs `deep` in a way of its own.
    fn with_deep(kind: Option<&str>, asked: &str) -> Vec<String> {
        let package = |name: &str, asked: &str| {
            json!({
                "id": name, "name": name, "version": "0.1.0",
                "rust_version": asked, "publish": null,
            })
        };
        let needs = |name: &str, on: &str, kind: Option<&str>| json!({ "id": name, "deps": [{ "pkg": on, "dep_kinds": [{ "kind": kind }] }] });
        faults_of(&json!({
            "packages": [
                package("program", "1.88"),
                package("direct", "1.88.0"),
                package("deep", asked),
            ],
            "workspace_members": ["program"],
            "resolve": { "nodes": [
                needs("program", "direct", None),
                needs("direct", "deep", kind),
                { "id": "deep", "deps": [] },
            ] },
        }))
    }

    #[test]
    fn a_dependency_of_a_dependency_that_asks_for_more_is_a_fault() {
        let fault = "program: promises Rust 1.88, and deep 0.1.0 asks for 1.88.1";
        assert_eq!(with_deep(None, "1.88.1"), [fault]);
        assert_eq!(with_deep(Some("build"), "1.88.1"), [fault]);
        assert_eq!(with_deep(None, "1.9").len(), 0, "1.9 is older than 1.88");
    }

    #[test]
    fn tests_may_need_more() {
        assert_eq!(with_deep(Some("dev"), "1.95").len(), 0);
    }

    #[test]
    fn a_package_that_is_published_has_a_rust_version() {
        let faults = faults_of(&json!({
            "packages": [
                { "id": "a", "name": "a", "publish": null, "rust_version": null },
                { "id": "b", "name": "b", "publish": [], "rust_version": null },
            ],
            "workspace_members": ["a", "b"],
        }));
        assert_eq!(faults, ["a: no rust-version in its manifest"]);
    }
}
