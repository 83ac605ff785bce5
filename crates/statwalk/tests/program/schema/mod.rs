// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of every command, held against `docs/statwalk.schema.json`.

mod checker;
mod strict;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{or_skip, trees};

use crate::run::{Answer, Tree, as_ordinary_user};
use checker::Schema;
use strict::strict;

const SCHEMA: &str = include_str!("../../../../../docs/statwalk.schema.json");

/// The file that is made from the schema; `RENEW_DOCS=1` writes it anew.
const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

/// Checks an answer against the definition of its command, and against the whole; both as
/// published, and in the strict form.
#[track_caller]
pub(crate) fn check(command: &str, document: &Value) {
    for strictly in [false, true] {
        assert_eq!(fits(command, document, strictly), Ok(()), "{document:#}");
    }
}

fn fits(command: &str, document: &Value, strictly: bool) -> Result<(), String> {
    // Thousands of lines are held against them.
    static PUBLISHED: LazyLock<Value> = LazyLock::new(schema);
    static STRICT: LazyLock<Value> = LazyLock::new(|| strict(&PUBLISHED));
    let whole = if strictly { &STRICT } else { &PUBLISHED };
    let schema = Schema { whole };
    schema.check(command, document, strictly)?;
    schema.check_whole(document)
}

#[track_caller]
fn check_run(tree: &Tree, command: &str, arguments: &[&str]) -> Value {
    let document = tree.run(arguments).json();
    check(command, &document);
    document
}

#[test]
fn every_answer_follows_the_schema() {
    let named = trees::named()
        .into_iter()
        .map(|(_, model)| Tree::of(&model));
    for tree in named {
        for arguments in [
            &["--json", "tree"][..],
            &["--json", "-a", "-d9", "tree"],
            &["--json", "-s", "tree", "tree", "tree/.."],
            &["--json", "--count", "tree", "nowhere"],
            &["--json", "--inodes", "-d2", "tree"],
        ] {
            check_run(&tree, "summary", arguments);
        }
        check_run(&tree, "top", &["top", "--json", "tree"]);
        check_run(&tree, "top", &["top", "--dirs", "--json", "tree"]);
        check_run(&tree, "top", &["top", "--rebuildable", "--json", "tree"]);
        check_run(&tree, "errors", &["errors", "--json", "tree", "nowhere"]);
        for key in ["type", "category", "owner", "group", "age", "size", "depth"] {
            check_run(&tree, "stats", &["stats", "--json", "--by", key, "tree"]);
        }
        for keys in ["owner,age", "type,category", "size,depth", "group,type"] {
            check_run(&tree, "stats", &["stats", "--json", "--by", keys, "tree"]);
        }
        for filter in [
            &["-S", "+0B"][..],
            &["--changed-before", "0d"],
            &["--owner", "!root"],
            &["--fields=all"],
            &["--fields=owner,btime"],
            &[],
        ] {
            let answer = tree.run(&[&["find", "--json", "tree"], filter].concat());
            let lines = answer.lines();
            for line in &lines {
                check("find", &serde_json::from_str(line).unwrap());
            }
        }
    }
}

#[test]
fn errors_and_hostile_names_follow_the_schema() {
    let tree = Tree::new("locked/\nlocked/file 5\nopen/");
    let hostile = std::ffi::OsStr::from_bytes(b"open/\xff\n\x1b");
    fs::write(tree.path().join(hostile), b"x").unwrap();
    let document = check_run(&tree, "summary", &["--json", "-a", "-d2", "tree"]);
    assert!(document.to_string().contains("path_b64"), "{document}");
    check_run(&tree, "top", &["top", "--json", "tree"]);
    let mut command = or_skip!(as_ordinary_user(&tree));
    fs::set_permissions(tree.path().join("locked"), Permissions::from_mode(0o000)).unwrap();
    let document = Answer::of(command.args(["errors", "--json", "tree"])).json();
    check("errors", &document);
    assert_eq!(document["errors"][0]["errno"], 13);
}

#[test]
fn bench_follows_the_schema() {
    let tree = Tree::of(&trees::basic());
    let arguments = ["bench", "tree", "--json", "--rounds=3", "--vary=order"];
    let document = check_run(&tree, "bench", &arguments);
    assert!(document["results"].as_array().unwrap().len() > 3);
}

#[test]
fn extents_and_changes_follow_the_schema() {
    let tree = Tree::new("mount/");
    let at = tree.path().join("mount");
    let mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    fs::create_dir(at.join("dir")).unwrap();
    fs::create_dir(at.join("dir/below")).unwrap();
    fs::write(at.join("dir/large"), vec![7; 300_000]).unwrap();
    fs::write(at.join("dir/below/small"), b"x").unwrap();
    mounted.settle().unwrap();
    let document = check_run(
        &tree,
        "extents",
        &["extents", "--json", "-d2", "tree/mount"],
    );
    let rows = document["extents"]["tree"].as_array().unwrap();
    let paths: Vec<_> = rows
        .iter()
        .map(|row| row["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        ["tree/mount", "tree/mount/dir", "tree/mount/dir/below"]
    );
    let rows = tree.run(&["extents", "-d2", "-n2", "tree/mount"]).good();
    let rows = rows.lines();
    let paths: Vec<_> = rows
        .iter()
        .map(|row| row.rsplit('\t').next().unwrap())
        .collect();
    // Of equal rows those stay whose names come first.
    assert_eq!(paths.len(), 2, "{rows:?}");
    let since = ["changes", "--json", "tree/mount", "--since", "0"];
    let document = check_run(&tree, "changes", &since);
    assert!(
        document["changes"].as_array().unwrap().len() >= 3,
        "{document}"
    );
}

/// Calls `change` with each object of a document in turn, in a copy of the document.
fn with_each_object(document: &Value, mut change: impl FnMut(&str, &mut Value, usize) -> bool) {
    fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.push(at.to_owned());
                for (field, value) in fields {
                    pointers(value, &format!("{at}/{field}"), found);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    pointers(item, &format!("{at}/{index}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    pointers(document, "", &mut found);
    for at in found {
        let mut turn = 0;
        let mut copy = document.clone();
        while change(&at, &mut copy, turn) {
            copy = document.clone();
            turn += 1;
        }
    }
}

/// A field of the output can be misspelt, and a test that reads another sees nothing. The
/// schema was closed for that, so answers of a later release, which adds fields, broke it.
#[test]
fn the_strict_form_refuses_a_misspelt_field_and_the_published_one_takes_more() {
    assert!(!SCHEMA.contains("additionalProperties") && !SCHEMA.contains("unevaluatedProperties"));
    let tree = Tree::of(&trees::hard_links());
    for (command, arguments) in [
        (
            "summary",
            &["--json", "-ad9", "-g", "*", "tree", "nowhere"][..],
        ),
        ("summary", &["--json", "-s", "tree"]),
        ("top", &["top", "--json", "tree"]),
        ("top", &["top", "--dirs", "--json", "tree"]),
        ("stats", &["stats", "--json", "--by", "age,owner", "tree"]),
        ("errors", &["errors", "--json", "nowhere"]),
        ("df", &["df", "--json", "tree"]),
    ] {
        let document = tree.run(arguments).json();
        check(command, &document);
        let mut tries = 0;
        with_each_object(&document, |at, copy, turn| {
            let object = copy.pointer_mut(at).unwrap().as_object_mut().unwrap();
            let Some(field) = object.keys().nth(turn).cloned() else {
                return false;
            };
            let mut wrong = field.clone();
            wrong.push('x');
            let value = object[&field].clone();
            object.insert(wrong, value);
            // As a later release would answer.
            assert_eq!(fits(command, copy, false), Ok(()), "{at}/{field}");
            assert!(fits(command, copy, true).is_err(), "{at}/{field}");
            let object = copy.pointer_mut(at).unwrap().as_object_mut().unwrap();
            object.remove(&field);
            assert!(fits(command, copy, true).is_err(), "{at}/{field}");
            tries += 1;
            tries < 2_000
        });
        assert!(tries > 10, "{command}");
    }
}

#[test]
fn the_reference_is_made_from_the_schema() {
    let expected = reference(&schema());
    if std::env::var_os("RENEW_DOCS").is_some() {
        fs::write(REFERENCE, &expected).unwrap();
    }
    let found = fs::read_to_string(Path::new(REFERENCE)).unwrap();
    assert!(
        found == expected,
        "docs/json.md is not what the schema says: run this test with RENEW_DOCS=1"
    );
}

const SAMPLE: &str = r#"
A short document, as `statwalk --json /data` prints it:

```json
{
  "schema": 2,
  "version": "0.1.0",
  "started_s": 1700000000, "started_ns": 0, "host": "db1",
  "arguments": [{"text": "--json"}, {"text": "/data"}],
  "complete": true,
  "elapsed_s": 0.004,
  "roots": [{"path": "/data", "entries": 3, "files": 1, "dirs": 2, "apparent_bytes": 5, "allocated_bytes": 12288}],
  "tree": [
    {"path": "/data", "type": "d", "entries": 3, "allocated_bytes": 12288},
    {"path": "/data/climate", "type": "d", "entries": 2, "allocated_bytes": 8192}
  ],
  "errors": []
}
```

`plan` and some counts are left out here. Five questions to such a document, for `jq -r`:

| Question | Filter |
|---|---|
"#;

/// Questions of the page: a test asks them.
const QUESTIONS: [(&str, &str); 5] = [
    (
        "The bytes of each path",
        ".roots[] | [.allocated_bytes, .path] | @tsv",
    ),
    (
        "The ten largest directories",
        ".tree | sort_by(-.allocated_bytes)[:10][] | .path",
    ),
    ("Time and machine", r#"(.started_s | todate) + " " + .host"#),
    ("The command line", ".arguments | map(.text) | @sh"),
    (
        "The unread paths, with their reasons",
        r#".errors[] | .path + ": " + .error"#,
    ),
];

/// "The page has no line that I can copy." Each filter of the page gets an answer.
#[test]
fn the_questions_of_the_page_have_answers() {
    let tree = Tree::new("climate/\nclimate/file 5");
    if std::process::Command::new("jq")
        .arg("--version")
        .output()
        .is_err()
    {
        return statwalk_testkit::Skipped::needs("jq").report();
    }
    let document = tree.run(&["--json", "tree", "nowhere"]).stdout;
    let file = tree.parent().join("document");
    fs::write(&file, document).unwrap();
    for (_, filter) in QUESTIONS {
        let mut jq = statwalk_testkit::program::command("jq");
        let answer = Answer::of(jq.args(["-r", filter]).arg(&file)).good();
        assert!(!answer.lines().is_empty(), "{filter}");
    }
}

/// "From which machine is this file, and what was asked?"
#[test]
fn a_document_says_its_origin() {
    let tree = Tree::new("a/\na/file.log 5");
    let before = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_secs();
    let mut command = crate::run::statwalk();
    command.args(["--json", "-e", "log", "-g", "*.log"]);
    command.arg(std::ffi::OsStr::from_bytes(b"no\xff\x1b"));
    let document = Answer::of(command.arg("tree").current_dir(tree.parent())).json();
    check("summary", &document);
    let started = document["started_s"].as_u64().unwrap();
    assert!((before..before + 60).contains(&started), "{document:#}");
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    assert_eq!(document["host"], host.as_str());
    let words = document["arguments"].as_array().unwrap();
    assert_eq!(words.len(), 7, "{document:#}");
    assert_eq!(words[4]["text"], "*.log");
    assert_eq!(words[5]["text_b64"], "bm//Gw==");
    assert_eq!(document["filters"]["globs"][0], "*.log");
    assert_eq!(document["filters"]["extensions"][0]["text"], "log");
    let plain = tree.run(&["--json", "tree"]).json();
    assert!(plain.get("filters").is_none(), "{plain:#}");
}

/// The answers whose fields the page leaves to the schema: few programs read them.
const IN_SCHEMA_ALONE: [&str; 4] = ["bench", "changes", "df", "extents"];

/// The page that lists the fields of scans.
fn reference(schema: &Value) -> String {
    let mut page = String::from(
        "# The JSON of statwalk\n\n\
         <!-- Made from statwalk.schema.json by `RENEW_DOCS=1 cargo test -p statwalk --test program -- schema`. -->\n\n\
         [`statwalk.schema.json`](statwalk.schema.json) describes every answer in JSON Schema, with the type of each field.\n\
         A test holds the answers of every command against it, and this page is made from it.\n\
         It allows fields that it does not name: a later release can add some.\n\n\
         `statwalk find --json` prints one object a line; every other command prints one document.\n\
         All integers are exact. A sum of bytes can exceed 2^53, which jq and JavaScript round.\n\
         A time is two integers: `mtime_s` has the whole seconds since 1970, rounded down, and `mtime_ns` the nanoseconds that follow.\n\
         A path that is no UTF-8 has U+FFFD for each invalid byte, and `path_b64` the exact bytes in base64. Other texts have the same.\n\
         A field without a value is absent; no field is null.\n",
    );
    page.push_str(SAMPLE);
    for (meaning, filter) in QUESTIONS {
        // A bar would end the cell.
        let filter = filter.replace('|', "\\|");
        let _ = writeln!(page, "| {meaning} | `{filter}` |");
    }
    let answers = schema["anyOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| referred(answer).unwrap());
    let mut on_page = BTreeSet::new();
    for answer in answers.filter(|answer| !IN_SCHEMA_ALONE.contains(answer)) {
        add_referred(schema, answer, &mut on_page);
    }
    for name in on_page {
        add_section(schema, name, &mut page);
    }
    let alone = IN_SCHEMA_ALONE.map(|name| format!("`{name}`")).join(", ");
    let _ = write!(
        page,
        "\n## Other answers\n\nThe schema alone has the fields of these: {alone}.\n"
    );
    page
}

/// Adds a definition and all to which it refers.
fn add_referred<'a>(schema: &'a Value, name: &'a str, names: &mut BTreeSet<&'a str>) {
    fn each<'a>(value: &'a Value, then: &mut impl FnMut(&'a str)) {
        referred(value).into_iter().for_each(&mut *then);
        let parts = value
            .as_object()
            .into_iter()
            .flat_map(|object| object.values());
        let parts = parts.chain(value.as_array().into_iter().flatten());
        parts.for_each(|part| each(part, then));
    }

    if names.insert(name) {
        each(&schema["$defs"][name], &mut |name| {
            add_referred(schema, name, names)
        });
    }
}

fn add_section(schema: &Value, name: &str, page: &mut String) {
    let definition = &schema["$defs"][name];
    let Some(properties) = definition["properties"].as_object() else {
        return;
    };
    let description = definition["description"].as_str().unwrap();
    let _ = write!(page, "\n## {name}\n\n{description}.");
    let parts = definition["allOf"].as_array().into_iter().flatten();
    let parts: Vec<_> = parts
        .map(|part| referred(part).unwrap())
        .map(link)
        .collect();
    if !parts.is_empty() {
        let _ = write!(page, "\nIt has the fields of {}.", parts.join(" and "));
    }
    page.push('\n');
    // The head of the page describes these.
    let is_told = |field: &str| {
        let twin = |end: &str, other: &str| {
            let stem = field.strip_suffix(end);
            stem.is_some_and(|stem| properties.contains_key(&format!("{stem}{other}")))
        };
        twin("_b64", "") || twin("_ns", "_s")
    };
    let mut rows = properties
        .iter()
        .filter(|(field, _)| !is_told(field))
        .peekable();
    if rows.peek().is_some() {
        page.push_str("\n| Field | Meaning |\n|---|---|\n");
    }
    for (field, rule) in rows {
        let meaning = meaning(schema, rule);
        let _ = writeln!(page, "| `{field}` | {meaning}{} |", links_of(rule));
    }
}

fn link(name: &str) -> String {
    format!("[{name}](#{name})")
}

/// The definitions of a field, or of the values of its list.
fn links_of(rule: &Value) -> String {
    let alternatives = rule["items"]["anyOf"].as_array().into_iter().flatten();
    let all = [rule, &rule["items"]].into_iter().chain(alternatives);
    let names = all.filter_map(referred).filter(|name| *name != "type");
    match names.map(link).collect::<Vec<_>>() {
        links if links.is_empty() => String::new(),
        links => format!(": {}", links.join(" or ")),
    }
}

fn referred(rule: &Value) -> Option<&str> {
    rule["$ref"].as_str()?.strip_prefix("#/$defs/")
}

fn meaning(schema: &Value, rule: &Value) -> String {
    let own = rule["description"].as_str();
    let of_type = || schema["$defs"][referred(rule)?]["description"].as_str();
    own.or_else(of_type).expect("a description").to_owned()
}
