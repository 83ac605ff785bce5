// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tables of a snapshot, and each of their columns, declared once.
//!
//! `docs/snapshot.md` has the same lists for people; a test compares them.

use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Repetition, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesPtr, WriterVersion,
};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use crate::error::Error;

/// The writer that each file names. It never changes with a version of a program or a library.
pub(crate) const CREATED_BY: &str = "statwalk-snapshot version 1.0.0";

/// How many row groups a file has.
pub(crate) const GROUPS_MAX: usize = 64;

/// How many rows a page has at most.
pub(crate) const PAGE_ROWS: usize = 8192;

/// A page with long names ends before. All others end by their rows.
const PAGE_BYTES: usize = 4 << 20;

/// After so many rows, the writer asks whether a page is full.
const BATCH_ROWS: usize = 1024;

/// A path as long as this is the last that a table has.
pub(crate) const PATH_BYTES_MAX: usize = 4096;

/// A table of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableName {
    /// A row for each name.
    Entries,
    /// A row for each directory.
    Dirs,
    /// A row for each path of which something is missing.
    Errors,
    /// A row for each user and group.
    Owners,
    /// A row for each file system.
    Filesystems,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Whether each row has a value.
    pub(crate) is_required: bool,
    pub(crate) form: Form,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// INT64.
    Int,
    /// BYTE_ARRAY that is UTF-8.
    Text,
    /// BYTE_ARRAY.
    Bytes,
    /// BOOLEAN.
    Bool,
    /// FIXED_LEN_BYTE_ARRAY of 16 bytes, as DECIMAL(38, 0).
    Decimal,
}

/// The encoding of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Differences of neighbours: DELTA_BINARY_PACKED, and DELTA_BYTE_ARRAY for text.
    Delta,
    /// A dictionary for each row group, and where that is too large, the values.
    Dictionary,
    Plain,
}

const fn column(name: &'static str, kind: Kind, is_required: bool, form: Form) -> Column {
    Column {
        name,
        kind,
        is_required,
        form,
    }
}

const fn number(name: &'static str) -> Column {
    column(name, Kind::Int, false, Form::Delta)
}

/// A number that differences make no smaller: zstd alone took a fifth less of /usr.
const fn value(name: &'static str) -> Column {
    column(name, Kind::Int, false, Form::Plain)
}

/// The same, which each row has.
const fn amount(name: &'static str) -> Column {
    column(name, Kind::Int, true, Form::Plain)
}

const fn few(name: &'static str) -> Column {
    column(name, Kind::Int, false, Form::Dictionary)
}

const fn count(name: &'static str) -> Column {
    column(name, Kind::Int, true, Form::Delta)
}

const fn word(name: &'static str, is_required: bool) -> Column {
    column(name, Kind::Text, is_required, Form::Dictionary)
}

const fn text(name: &'static str, is_required: bool) -> Column {
    column(name, Kind::Text, is_required, Form::Delta)
}

const fn raw(name: &'static str) -> Column {
    column(name, Kind::Bytes, false, Form::Delta)
}

const fn yes_or_no(name: &'static str, is_required: bool) -> Column {
    column(name, Kind::Bool, is_required, Form::Plain)
}

/// A number beside one that does not hold it.
const fn big(name: &'static str) -> Column {
    column(name, Kind::Decimal, false, Form::Plain)
}

/// The columns of `entries`.
pub(crate) const ENTRIES: &[Column] = &[
    number("dir"),
    text("name", true),
    raw("name_raw"),
    word("ext", false),
    word("type", true),
    few("mode"),
    few("uid"),
    few("gid"),
    few("links"),
    few("fs"),
    number("ino"),
    few("rdev"),
    value("size"),
    big("size_big"),
    value("allocated"),
    big("allocated_big"),
    few("flags"),
    few("flags_mask"),
    value("mtime"),
    value("ctime"),
    value("btime"),
    value("atime"),
    number("mtime_s"),
    number("ctime_s"),
    number("btime_s"),
    number("atime_s"),
    yes_or_no("followed", true),
    yes_or_no("known", true),
    few("errno"),
    yes_or_no("counts", true),
    number("child"),
    value("below_entries"),
    value("below_files"),
    value("below_dirs"),
    value("below_size"),
    big("below_size_big"),
    value("below_allocated"),
    big("below_allocated_big"),
    value("below_newest"),
];

/// The columns of `dirs`.
pub(crate) const DIRS: &[Column] = &[
    count("dir"),
    count("last"),
    number("parent"),
    count("root"),
    count("entry"),
    text("path", false),
    count("first_entry"),
    count("entries"),
    word("state", true),
    yes_or_no("incomplete", true),
    yes_or_no("finished", true),
    yes_or_no("cachedir_tag", false),
    amount("below_entries"),
    amount("below_files"),
    amount("below_dirs"),
    value("below_size"),
    big("below_size_big"),
    value("below_allocated"),
    big("below_allocated_big"),
    value("below_newest"),
    count("unreadable"),
    count("changed"),
    count("vanished"),
    count("not_entered"),
    amount("listing"),
];

/// The columns of `errors`.
pub(crate) const ERRORS: &[Column] = &[
    text("path", true),
    count("root"),
    number("dir"),
    word("op", true),
    few("errno"),
    word("class", true),
    word("reason", false),
];

/// The columns of `owners`.
pub(crate) const OWNERS: &[Column] = &[
    word("kind", true),
    count("id"),
    text("name", true),
    raw("name_raw"),
];

/// The columns of `filesystems`.
pub(crate) const FILESYSTEMS: &[Column] = &[
    count("fs"),
    text("identity", true),
    word("type", true),
    text("mount_point", true),
    number("begin_block_bytes"),
    number("begin_blocks"),
    number("begin_free_blocks"),
    number("begin_available_blocks"),
    number("begin_inodes"),
    number("begin_free_inodes"),
    number("end_block_bytes"),
    number("end_blocks"),
    number("end_free_blocks"),
    number("end_available_blocks"),
    number("end_inodes"),
    number("end_free_inodes"),
];

impl TableName {
    pub(crate) const ALL: [TableName; 5] = [
        TableName::Entries,
        TableName::Dirs,
        TableName::Errors,
        TableName::Owners,
        TableName::Filesystems,
    ];

    /// Its name, which is that of its folder.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            TableName::Entries => "entries",
            TableName::Dirs => "dirs",
            TableName::Errors => "errors",
            TableName::Owners => "owners",
            TableName::Filesystems => "filesystems",
        }
    }

    /// The path of one of its files in the folder of the snapshot.
    pub(crate) fn file_name(self, number: usize) -> String {
        format!("{}/part-{number:05}.parquet", self.name())
    }

    pub(crate) const fn columns(self) -> &'static [Column] {
        match self {
            TableName::Entries => ENTRIES,
            TableName::Dirs => DIRS,
            TableName::Errors => ERRORS,
            TableName::Owners => OWNERS,
            TableName::Filesystems => FILESYSTEMS,
        }
    }

    /// How many rows a row group has, but for the last.
    pub(crate) const fn group_rows(self) -> usize {
        match self {
            TableName::Dirs => 32_768,
            _ => 262_144,
        }
    }

    /// The index of a column.
    pub(crate) fn index(self, name: &str) -> usize {
        let found = self.columns().iter().position(|column| column.name == name);
        found.expect("the name is one of the table above")
    }

    /// The schema in the form of the library.
    pub(crate) fn schema(self) -> Result<TypePtr, Error> {
        let of = |column: &Column| column.parquet_type().map(Arc::new);
        let fields = self.columns().iter().map(of).collect::<Result<_, _>>();
        let schema = fields.and_then(|fields| {
            Type::group_type_builder("schema")
                .with_fields(fields)
                .build()
        });
        schema
            .map(Arc::new)
            .map_err(|error| Error::unfit(format!("schema: {error}")))
    }

    /// The properties of its files. Each has its value here: another default in a new version
    /// of the library would change the bytes.
    pub(crate) fn properties(self) -> Result<WriterPropertiesPtr, Error> {
        let zstd = ZstdLevel::try_new(3).map_err(|error| Error::unfit(error.to_string()))?;
        let mut properties = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_owned())
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_compression(Compression::ZSTD(zstd))
            .set_max_row_group_row_count(Some(self.group_rows()))
            .set_max_row_group_bytes(None)
            .set_data_page_row_count_limit(PAGE_ROWS)
            .set_data_page_size_limit(PAGE_BYTES)
            .set_dictionary_page_size_limit(1 << 20)
            .set_write_batch_size(BATCH_ROWS)
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_write_page_header_statistics(false)
            .set_statistics_truncate_length(Some(64))
            .set_column_index_truncate_length(Some(64))
            .set_offset_index_disabled(false)
            .set_bloom_filter_enabled(false)
            .set_key_value_metadata(None)
            .set_coerce_types(false)
            .set_content_defined_chunking(None)
            .set_write_path_in_schema(true)
            .set_write_row_group_number_distinct_values(false)
            .set_dictionary_enabled(false);
        let is_sorted = matches!(self, TableName::Entries | TableName::Dirs);
        properties = properties.set_sorting_columns(is_sorted.then(|| {
            vec![SortingColumn {
                column_idx: self.index("dir") as i32,
                descending: false,
                nulls_first: true,
            }]
        }));
        for column in self.columns() {
            let path = ColumnPath::from(column.name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), column.form == Form::Dictionary)
                .set_column_encoding(path, column.encoding());
        }
        Ok(Arc::new(properties.build()))
    }
}

impl Column {
    /// The encoding of its values, and of those that a dictionary has no room for.
    fn encoding(&self) -> Encoding {
        match (self.form, self.kind) {
            (Form::Delta, Kind::Int) => Encoding::DELTA_BINARY_PACKED,
            (Form::Delta, Kind::Text | Kind::Bytes) => Encoding::DELTA_BYTE_ARRAY,
            _ => Encoding::PLAIN,
        }
    }

    fn parquet_type(&self) -> parquet::errors::Result<Type> {
        use parquet::basic::Type as Physical;
        let physical = match self.kind {
            Kind::Int => Physical::INT64,
            Kind::Text | Kind::Bytes => Physical::BYTE_ARRAY,
            Kind::Bool => Physical::BOOLEAN,
            Kind::Decimal => Physical::FIXED_LEN_BYTE_ARRAY,
        };
        let repetition = match self.is_required {
            true => Repetition::REQUIRED,
            false => Repetition::OPTIONAL,
        };
        let builder = Type::primitive_type_builder(self.name, physical).with_repetition(repetition);
        match self.kind {
            Kind::Text => builder
                .with_logical_type(Some(LogicalType::String))
                .with_converted_type(ConvertedType::UTF8),
            Kind::Decimal => builder
                .with_length(16)
                .with_logical_type(Some(LogicalType::decimal(0, 38)))
                .with_converted_type(ConvertedType::DECIMAL)
                .with_precision(38)
                .with_scale(0),
            _ => builder,
        }
        .build()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_column_has_a_name_of_its_own_and_a_type() {
        for table in TableName::ALL {
            let names: HashSet<_> = table.columns().iter().map(|column| column.name).collect();
            assert_eq!(names.len(), table.columns().len());
            let schema = table.schema().unwrap();
            assert_eq!(schema.get_fields().len(), names.len());
            table.properties().unwrap();
        }
        assert_eq!(TableName::Dirs.file_name(12), "dirs/part-00012.parquet");
    }

    /// The rows of the tables of columns in `docs/snapshot.md`, below the name of each table.
    #[test]
    fn the_documentation_has_each_column() {
        let page = include_str!("../../../docs/snapshot.md");
        for table in TableName::ALL {
            let head = format!("\n## {}\n", table.name());
            let section = page.split_once(&head).map(|(_, rest)| rest).unwrap();
            let section = section.split("\n## ").next().unwrap();
            let rows = section.lines().filter(|line| line.starts_with("| `"));
            let found: Vec<(&str, &str)> = rows
                .map(|line| {
                    let mut cells = line.split('|').skip(1).map(str::trim);
                    let name = cells.next().unwrap().trim_matches('`');
                    (name, cells.next().unwrap())
                })
                .collect();
            let expected: Vec<(&str, String)> = table
                .columns()
                .iter()
                .map(|column| {
                    let kind = match column.kind {
                        Kind::Int => "INT64",
                        Kind::Text => "text",
                        Kind::Bytes => "bytes",
                        Kind::Bool => "BOOLEAN",
                        Kind::Decimal => "DECIMAL",
                    };
                    let mark = if column.is_required { "" } else { "?" };
                    (column.name, format!("{kind}{mark}"))
                })
                .collect();
            let found: Vec<_> = found
                .iter()
                .map(|&(name, kind)| (name, kind.to_owned()))
                .collect();
            assert_eq!(found, expected, "{}", table.name());
        }
    }
}
