// SPDX-License-Identifier: MIT OR Apache-2.0

//! The fields and columns of `index.d.ts` are those of the table of columns.

use std::path::Path;

use statwalk_core::{Column, ColumnKind, Fields};
use statwalk_stream::in_camel_case;

const TYPES: &str = "../node/index.d.ts";

#[test]
fn fields_and_columns_are_those_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(TYPES);
    let kept = std::fs::read_to_string(&path).unwrap();
    let made = replaced(&kept, "fields", &fields());
    let made = replaced(&made, "columns", &columns());
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
