// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of a scan as one table: entries and directories in the same columns.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use arrow_array::builder::GenericStringBuilder;
use arrow_array::types::{ArrowPrimitiveType, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, GenericBinaryArray, GenericStringArray, OffsetSizeTrait,
    PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray, StructArray,
    TimestampNanosecondArray, UInt8Array, UInt32Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use statwalk_core::{
    Bits, Column as Attribute, ColumnKind, Columns, Fields, FileType, Rows, Values,
};
use statwalk_format::{has_escape, text_of_bytes};

use super::{ArrowArray, ArrowSchema};
use crate::request::{PATH, Request};
use crate::tables::{Paths, Table};

/// The dictionary of the column of types, for all tables.
static WORDS: LazyLock<ArrayRef> = LazyLock::new(|| {
    let words = FileType::ALL.map(FileType::word);
    Arc::new(StringArray::from(words.to_vec()))
});

/// As many entries as a table has at most, each without a number of its own.
static NO_IDS: LazyLock<UInt32Array> = LazyLock::new(|| UInt32Array::new_null(Rows::MAX));

/// The word for a type, as in the columns.
#[must_use]
pub fn type_word(kind: FileType) -> &'static str {
    kind.word()
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Path,
    /// The path in bytes.
    PathRaw,
    Name,
    NameRaw,
    /// The number of the directory that an entry lies in; absent for a root.
    Dir,
    /// The number of a directory itself; absent for other entries.
    Child,
    Type,
    Attribute(Attribute),
}

/// The names of the columns that are no attributes.
const NAMED: [(&str, Part); 7] = [
    ("path", Part::Path),
    ("path_raw", Part::PathRaw),
    ("name", Part::Name),
    ("name_raw", Part::NameRaw),
    ("dir", Part::Dir),
    ("child", Part::Child),
    ("type", Part::Type),
];

impl Part {
    /// The columns that a word of a caller stands for: a field, or a column by its name.
    fn of(word: &str) -> Vec<Part> {
        if let Some((_, part)) = NAMED.iter().find(|(name, _)| *name == word) {
            return vec![*part];
        }
        let of = |fields| Attribute::of(fields).into_iter().map(Part::Attribute);
        if word == "stat" {
            return [Part::Type].into_iter().chain(of(STAT)).collect();
        }
        let fields = (0..32).filter_map(|bit| Fields::from_bits(1 << bit));
        let field = fields
            .filter(|field| field.names().any(|name| name == word))
            .fold(Fields::NONE, Fields::union);
        if field != Fields::NONE {
            return of(field).collect();
        }
        of(Fields::ALL).filter(|part| part.name() == word).collect()
    }

    fn name(self) -> &'static str {
        match self {
            Part::Attribute(column) => column.name,
            part => NAMED
                .into_iter()
                .find(|(_, other)| *other == part)
                .map_or("", |(name, _)| name),
        }
    }

    /// The bits that ask for it.
    fn bits(self) -> u32 {
        match self {
            Part::Path | Part::PathRaw => PATH,
            Part::Name | Part::NameRaw => Fields::NAME.bits(),
            Part::Type => Fields::TYPE.bits(),
            Part::Dir | Part::Child => 0,
            Part::Attribute(column) => column.field.bits(),
        }
    }

    fn field(self) -> Field {
        let (data, can_lack) = match self {
            Part::Path => (DataType::LargeUtf8, false),
            Part::PathRaw => (DataType::LargeBinary, false),
            Part::Name => (DataType::Utf8, false),
            Part::NameRaw => (DataType::Binary, false),
            Part::Dir | Part::Child => (DataType::UInt32, true),
            Part::Type => {
                let words = DataType::Dictionary(DataType::UInt8.into(), DataType::Utf8.into());
                (words, false)
            }
            Part::Attribute(column) => {
                let values = match column.kind {
                    ColumnKind::U16 => DataType::UInt16,
                    ColumnKind::U32 => DataType::UInt32,
                    ColumnKind::U64 => DataType::UInt64,
                    _ => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
                };
                (values, true)
            }
        };
        Field::new(self.name(), data, can_lack)
    }
}

/// The fields that the structure of stat(2) has.
pub const STAT: Fields = Fields::STAT.without(Fields::BTIME);

/// All words that stand for columns: those of the columns, and of the fields of the engine.
pub fn words() -> impl Iterator<Item = &'static str> {
    let fields = (0..32).filter_map(|bit| Fields::from_bits(1 << bit));
    let attributes = Attribute::of(Fields::ALL).into_iter();
    let named = NAMED.into_iter().map(|(name, _)| name).chain(["stat"]);
    let of_fields = fields.flat_map(|field| field.names());
    let mut seen = HashSet::new();
    named
        .chain(of_fields)
        .chain(attributes.map(|column| column.name))
        .filter(move |word| seen.insert(*word))
}

/// The bits that columns ask for, which callers name by fields or by themselves; an error
/// with the first word that nothing has.
///
/// # Errors
///
/// Returns a word that stands for no column.
pub fn bits_of<'a>(words: &[&'a str]) -> Result<u32, &'a str> {
    words.iter().try_fold(0, |bits, word| {
        let parts = Part::of(word);
        match parts.is_empty() {
            true => Err(*word),
            false => Ok(parts.iter().fold(bits, |bits, part| bits | part.bits())),
        }
    })
}

/// The type of the tables of a scan: a struct with a child for each column.
///
/// `path` and `name` are text, from which [`bytes_of_text`](statwalk_format::bytes_of_text)
/// gives the bytes; `path_raw` and `name_raw` are the bytes. `child` is the number of a
/// directory and null for other entries, `dir` the number of the directory that an entry
/// lies in and null for a root.
#[derive(Clone, Debug)]
pub struct TableType {
    /// Made once: a scan with a quick reader has thousands of small tables.
    schema: SchemaRef,
    fields: Fields,
    parts: Arc<[Part]>,
}

impl TableType {
    /// The type with all columns of a request: paths and names as text, the numbers of
    /// directories, the type, and the attributes.
    #[must_use]
    pub fn of(request: &Request) -> TableType {
        let fields = request.fields();
        let path = request.has_paths().then_some(Part::Path);
        let name = fields.contains(Fields::NAME).then_some(Part::Name);
        let attributes = Attribute::of(fields).into_iter().map(Part::Attribute);
        let parts = path.into_iter().chain(name);
        let parts = parts.chain([Part::Dir, Part::Child, Part::Type]);
        TableType::with(fields, parts.chain(attributes).collect())
    }

    /// The type with the columns that a caller names, in this order and each once. The request
    /// asks for their bits, which [`bits_of`] tells.
    #[must_use]
    pub fn of_words(request: &Request, words: &[impl AsRef<str>]) -> TableType {
        let mut parts: Vec<Part> = Vec::new();
        for part in words.iter().flat_map(|word| Part::of(word.as_ref())) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        TableType::with(request.fields(), parts)
    }

    fn with(fields: Fields, parts: Vec<Part>) -> TableType {
        let columns: Vec<_> = parts.iter().map(|part| part.field()).collect();
        TableType {
            schema: Arc::new(Schema::new(columns)),
            fields,
            parts: parts.into(),
        }
    }

    /// The type of tables that come from elsewhere. No scan makes tables of it.
    pub(super) fn of_schema(schema: SchemaRef) -> TableType {
        TableType {
            schema,
            fields: Fields::NONE,
            parts: Arc::new([]),
        }
    }

    /// The fields of the engine that it has, beside the numbers of directories.
    #[must_use]
    pub fn fields(&self) -> Fields {
        self.fields
    }

    /// The names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
    }

    /// For a consumer, who releases it.
    #[must_use]
    pub fn schema(&self) -> ArrowSchema {
        let schema = ArrowSchema::try_from(self.schema.as_ref());
        schema.expect("each type has a format, and no name a NUL")
    }

    pub(super) fn schema_ref(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// A table of this type. A root that is no directory is an entry without a `dir`.
    #[must_use]
    pub fn table(&self, table: Table) -> RecordBatch {
        let (mut columns, ids, _, paths) = table.into_parts();
        let rows = columns.len();
        let Paths { bytes, offsets } = paths.unwrap_or_default();
        let paths = Strings::of(offsets, bytes);
        let names = std::mem::take(&mut columns.names);
        let names = Strings::of(std::mem::take(&mut columns.name_offsets), names);
        let dirs = std::mem::take(&mut columns.dirs);
        let has_dir = std::mem::take(&mut columns.has_dir);
        let dirs = numbers::<UInt32Type>(dirs, has_dir);
        let ids = ids.map_or_else(|| NO_IDS.slice(0, rows), of_directories);
        let kinds = std::mem::take(&mut columns.kinds).into();
        let mut child = |part: &Part| -> ArrayRef {
            match part {
                Part::Path => paths.text(),
                Part::PathRaw => paths.raw(),
                Part::Name => names.text(),
                Part::NameRaw => names.raw(),
                Part::Dir => Arc::clone(&dirs),
                Part::Child => Arc::new(ids.clone()),
                Part::Type => {
                    let kinds = UInt8Array::new(ScalarBuffer::clone(&kinds), None);
                    Arc::new(DictionaryArray::<UInt8Type>::new(kinds, Arc::clone(&WORDS)))
                }
                Part::Attribute(column) => attribute(&mut columns, column),
            }
        };
        let children = self.parts.iter().map(&mut child).collect();
        // A table without a column has rows all the same.
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema_ref(), children, &options)
            .expect("the columns are of the type")
    }
}

/// The numbers of directories. Others are among them in a sequence by path.
fn of_directories(ids: Vec<u32>) -> UInt32Array {
    let nulls = ids.contains(&u32::MAX).then(|| {
        let is_one = BooleanBuffer::collect_bool(ids.len(), |row| ids[row] != u32::MAX);
        NullBuffer::new(is_one)
    });
    UInt32Array::new(ids.into(), nulls)
}

/// Values of bytes, one after another.
struct Strings<T: OffsetSizeTrait> {
    offsets: OffsetBuffer<T>,
    bytes: Buffer,
}

impl<T: OffsetSizeTrait> Strings<T> {
    fn of(mut offsets: Vec<T>, bytes: Vec<u8>) -> Strings<T> {
        // A table of nothing but ends has none.
        if offsets.is_empty() {
            offsets.push(T::default());
        }
        Strings {
            offsets: OffsetBuffer::new(offsets.into()),
            bytes: bytes.into(),
        }
    }

    fn raw(&self) -> ArrayRef {
        let (offsets, bytes) = (self.offsets.clone(), self.bytes.clone());
        Arc::new(GenericBinaryArray::new(offsets, bytes, None))
    }

    /// The text of each value: nearly always the bytes themselves, without a copy.
    fn text(&self) -> ArrayRef {
        let (offsets, bytes) = (self.offsets.clone(), self.bytes.clone());
        if !has_escape(&bytes)
            && let Ok(text) = GenericStringArray::try_new(offsets, bytes, None)
        {
            return Arc::new(text);
        }
        let mut text = GenericStringBuilder::<T>::new();
        for ends in self.offsets.windows(2) {
            let value = &self.bytes[ends[0].as_usize()..ends[1].as_usize()];
            text.append_value(text_of_bytes(value));
        }
        Arc::new(text.finish())
    }
}

fn attribute(columns: &mut Columns, column: &Attribute) -> ArrayRef {
    let known = columns.known(column).clone();
    match columns.take_values(column) {
        Values::U16(values) => numbers::<UInt16Type>(values.into_owned(), known),
        Values::U32(values) => numbers::<UInt32Type>(values.into_owned(), known),
        Values::U64(values) => numbers::<UInt64Type>(values.into_owned(), known),
        Values::TimeNs(values) => {
            let times = values.into_owned().into();
            let times = TimestampNanosecondArray::new(times, nulls(known));
            Arc::new(times.with_timezone("UTC"))
        }
        _ => unreachable!("a column without a type of Arrow"),
    }
}

/// A table as the array of a struct, for a consumer. It leads to the same buffers, which live
/// until the last is released.
#[must_use]
pub fn array(table: RecordBatch) -> ArrowArray {
    ArrowArray::new(&StructArray::from(table).into_data())
}

fn numbers<T: ArrowPrimitiveType>(values: Vec<T::Native>, known: Bits) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls(known)))
}

fn nulls(known: Bits) -> Option<NullBuffer> {
    let rows = known.len();
    let bytes = known.into_bytes()?;
    Some(NullBuffer::new(BooleanBuffer::new(bytes.into(), 0, rows)))
}
