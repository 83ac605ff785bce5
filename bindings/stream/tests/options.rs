// SPDX-License-Identifier: MIT OR Apache-2.0

//! The options of each language are those of the table, in signatures and documentation.
//! `types_of_node.rs` has those of Node. README.md has the errors, too.

use std::collections::BTreeSet;
use std::path::Path;

use statwalk_stream::{ERRORS, Language, OPTIONS, OptionKind, ScanOption};

const LANGUAGES: [Language; 4] = [
    Language::C,
    Language::Python,
    Language::Node,
    Language::Java,
];

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The options of a language by their names there.
fn named(language: Language) -> impl Iterator<Item = (&'static str, &'static ScanOption)> {
    let named = move |option: &'static ScanOption| Some((option.name(language)?, option));
    OPTIONS.iter().filter_map(named)
}

fn names(language: Language) -> BTreeSet<&'static str> {
    named(language).map(|(name, _)| name).collect()
}

/// The comment right above a line that holds a text, as one line.
fn comment_above(source: &str, text: &str) -> String {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.contains(text));
    let at = at.unwrap_or_else(|| panic!("{text} is nowhere"));
    let mut above: Vec<&str> = lines[..at]
        .iter()
        .rev()
        .skip_while(|line| line.starts_with("#["))
        .take_while(|line| line.starts_with(['/', '*']))
        .map(|line| line.trim_start_matches(['/', '*', ' ']))
        .collect();
    above.reverse();
    above.join(" ")
}

#[test]
fn the_readme_has_them() {
    let mut lines = vec![
        "| Option | C | Python | Node | Java | Values | Default |".to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(OPTIONS.iter().map(|option| {
        let names = LANGUAGES.map(|language| match option.name(language) {
            Some(name) => format!("`{name}`"),
            None => "–".to_owned(),
        });
        let (values, default) = match option.kind {
            OptionKind::Flag => ("yes or no".to_owned(), "no".to_owned()),
            OptionKind::Number { most, default } => (
                match most {
                    u32::MAX => "0 to 2^32 − 1".to_owned(),
                    most => format!("0 to {most}"),
                },
                default.map_or("no limit".to_owned(), |default| default.to_string()),
            ),
            OptionKind::Patterns => ("patterns".to_owned(), "none".to_owned()),
        };
        let meaning = option.meaning;
        format!(
            "| {meaning} | {} | {values} | {default} |",
            names.join(" | ")
        )
    }));
    assert_readme_has("| Option |", &lines);
}

#[test]
fn the_readme_has_the_errors() {
    let mut lines = vec![
        "| Error | C | Python | Node | Java |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(ERRORS.iter().map(|error| {
        let stands = LANGUAGES.map(|language| error.stands(language).unwrap_or("–"));
        format!("| {} | {} |", error.meaning, stands.join(" | "))
    }));
    assert_readme_has("| Error |", &lines);
}

/// Compares a table of the README, or writes it.
fn assert_readme_has(head: &str, lines: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    // The tests of both tables write the same file.
    static FILE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = FILE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let kept = file("README.md");
    let from = kept.find(head).expect("it has the table");
    let to = from + kept[from..].find("\n\n").expect("text follows");
    let made = format!("{}{}{}", &kept[..from], lines.join("\n"), &kept[to..]);
    if std::env::var_os("STATWALK_WRITE_TYPES").is_some() {
        return std::fs::write(&path, &made).expect("it can be written");
    }
    assert!(
        made == kept,
        "README.md is old; STATWALK_WRITE_TYPES=1 cargo test -p statwalk-stream --test options writes it"
    );
}

#[test]
fn functions_of_c_have_them() {
    let source = file("c/src/scan.rs");
    let functions = source.split("extern \"C\" fn ").skip(1);
    let functions = functions.map(|rest| rest.split('(').next().unwrap());
    let apart = [
        "sw_scan_new",
        "sw_scan_free",
        "sw_scan_add_root",
        "sw_scan_set_columns",
        "sw_scan_set_options",
    ];
    let flags = source.split("const ALL: u32 =").nth(1).unwrap();
    let flags = flags.split(';').next().unwrap().split('|').map(str::trim);
    let found = functions.filter(|name| !apart.contains(name)).chain(flags);
    assert_eq!(found.collect::<BTreeSet<_>>(), names(Language::C));

    let cpp = file("c/include/statwalk.hpp");
    for (name, option) in named(Language::C) {
        let item = match option.kind {
            OptionKind::Flag => format!("pub const {name}: u32"),
            OptionKind::Number { .. } | OptionKind::Patterns => format!("extern \"C\" fn {name}("),
        };
        let words = comment_above(&source, &item);
        assert!(words.contains(option.meaning), "{name}: {words}");
        if !matches!(option.kind, OptionKind::Flag) {
            let method = name
                .trim_start_matches("sw_scan_")
                .trim_start_matches("set_");
            assert!(cpp.contains(&format!("scan &{method}(")), "{method} of C++");
        }
    }
}

/// One item of Python, or several.
fn several(item: &str) -> String {
    format!("{item} | Iterable[{item}]")
}

#[test]
fn functions_of_python_have_them() {
    let source = file("python/python/statwalk/__init__.py");
    let (_, types) = source.split_once("class _ScanOptions(").unwrap();
    let (types, _) = types.split_once("\nelse:\n").unwrap();
    assert_eq!(
        lines_of_options(types.split_once('\n').unwrap().1),
        lines_of_python(|_| true, "", ""),
        "_ScanOptions"
    );
    for function in ["scan", "batches", "table", "du", "top", "stats"] {
        let begin = format!("\ndef {function}(");
        // What @overload marks stands before the function itself.
        let (_, rest) = source.rsplit_once(&begin).unwrap();
        let (signature, rest) = rest.split_once(") -> ").unwrap();
        let (_, by_name) = signature.split_once("    *,\n").unwrap();
        let is_whole = matches!(function, "du" | "top" | "stats");
        let of_entries = ["max_depth", "min_depth", "sort", "contents_first"];
        let has = |name: &str| !is_whole || !of_entries.contains(&name);
        let wanted = lines_of_python(has, " = ", ",");
        assert_eq!(lines_of_options(by_name), wanted, "{function}");
        let doc = rest.split("\"\"\"").nth(1).unwrap();
        let doc = doc.split_whitespace().collect::<Vec<_>>().join(" ");
        if function == "scan" {
            for (name, option) in named(Language::Python) {
                let line = format!("- `{name}`: {}", option.meaning);
                assert!(doc.contains(&line), "scan does not say: {line}");
            }
        } else {
            assert!(
                doc.contains("Options are those of `scan`"),
                "{function}: {doc}"
            );
        }
    }
}

/// The lines of a signature that are of options of the table.
fn lines_of_options(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    let apart = |line: &&str| line.starts_with("fields:") || line.starts_with("onerror:");
    lines
        .filter(|line| !line.is_empty() && !apart(line))
        .collect()
}

/// The options as Python writes them, each with its default behind `equals`, if any.
fn lines_of_python(has: impl Fn(&str) -> bool, equals: &str, end: &str) -> Vec<String> {
    let options = named(Language::Python).filter(|(name, _)| has(name));
    let lines = options.map(|(name, option)| {
        let (kind, default) = match option.kind {
            OptionKind::Flag => ("bool".to_owned(), "False"),
            OptionKind::Number { .. } => ("int | None".to_owned(), "None"),
            OptionKind::Patterns => (several("str | bytes | os.PathLike[Any]"), "()"),
        };
        let default = if equals.is_empty() { "" } else { default };
        format!("{name}: {kind}{equals}{default}{end}")
    });
    lines.collect()
}

#[test]
fn methods_of_java_have_them() {
    let source = file("java/src/main/java/org/statwalk/ScanOptions.java");
    let methods = source.match_indices("public ScanOptions with");
    let methods = methods.map(|(at, _)| source[at + 19..].split('(').next().unwrap());
    let found =
        methods.filter(|name| !["withNamesAlone", "withOnError", "withPrune"].contains(name));
    assert_eq!(found.collect::<BTreeSet<_>>(), names(Language::Java));
    for (name, option) in named(Language::Java) {
        let parameters = match option.kind {
            OptionKind::Flag => "()",
            OptionKind::Number { .. } => "(int ",
            OptionKind::Patterns => "(String... ",
        };
        let words = comment_above(&source, &format!("public ScanOptions {name}{parameters}"));
        assert!(words.contains(option.meaning), "{name}: {words}");
    }
}
