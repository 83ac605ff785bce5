// SPDX-License-Identifier: MIT OR Apache-2.0

//! The fields and columns of `index.d.ts` are those of the table of columns, and its options
//! those of the table of options.

use std::path::Path;

use statwalk_core::{Column, ColumnKind, Fields};
use statwalk_stream::{Language, OPTIONS, OptionKind, in_camel_case};

const TYPES: &str = "../node/index.d.ts";

#[test]
fn fields_columns_and_options_are_those_of_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(TYPES);
    let kept = std::fs::read_to_string(&path).unwrap();
    let made = replaced(&kept, "fields", &fields());
    let made = replaced(&made, "columns", &columns());
    let made = replaced(&made, "options", &options());
    if std::env::var_os("STATWALK_WRITE_TYPES").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(
        made == kept,
        "{TYPES} is old; STATWALK_WRITE_TYPES=1 cargo test -p statwalk-stream --test types_of_node writes it"
    );
}

/// A text with other lines between the two comments of a word.
fn replaced(text: &str, word: &str, lines: &[String]) -> String {
    let [begin, end] = ["", "end of "].map(|end| format!("// {end}{word} of the table\n"));
    let from = text.find(&begin).expect("it has the comment") + begin.len();
    let to = text[..text.find(&end).expect("it has the comment")].rfind('\n');
    let to = to.expect("a line is before it") + 1;
    format!("{}{}\n{}", &text[..from], lines.join("\n"), &text[to..])
}

fn fields() -> Vec<String> {
    let names = Fields::ALL.names().chain(["path", "stat"]);
    names.map(|name| format!("  | '{name}'")).collect()
}

fn columns() -> Vec<String> {
    let columns = Column::of(Fields::ALL).into_iter().flat_map(|column| {
        let name = in_camel_case(column.name);
        match column.kind {
            ColumnKind::U16 => vec![format!("  {name}?: Uint16Array")],
            ColumnKind::U32 => vec![format!("  {name}?: Uint32Array")],
            ColumnKind::U64 => vec![format!("  {name}?: BigUint64Array")],
            _ => vec![
                format!("  {name}Ns?: BigInt64Array"),
                "  /** The same in milliseconds, as fs.Stats has it. */".to_owned(),
                format!("  {name}Ms?: Float64Array"),
                format!("  {name}IsKnown?: Uint8Array"),
            ],
        }
    });
    columns.collect()
}

fn options() -> Vec<String> {
    let of_node = OPTIONS.iter().filter_map(|option| {
        let name = option.name(Language::Node)?;
        let (range, kind) = match option.kind {
            OptionKind::Flag => (String::new(), "boolean"),
            OptionKind::Number { most, default } => {
                let most = match most {
                    u32::MAX => "2 ** 32 - 1".to_owned(),
                    most => most.to_string(),
                };
                let range = match default {
                    Some(default) => format!(" 0 to {most}; the default is {default}."),
                    None => format!(" 0 to {most}, or Infinity; the default is no limit."),
                };
                (range, "number")
            }
            OptionKind::Patterns => (
                String::new(),
                "string | Uint8Array | Iterable<string | Uint8Array>",
            ),
        };
        let words = format!("  /** {}{range} */", option.meaning);
        Some([words, format!("  {name}?: {kind}")])
    });
    of_node.flatten().collect()
}
