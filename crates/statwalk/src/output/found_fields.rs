// SPDX-License-Identifier: MIT OR Apache-2.0

//! The attributes that `find --fields` shows: the columns before a path.

use std::io::Write as _;

use jiff::tz::TimeZone;
use statwalk_core::{Attributes, Fields};
use statwalk_view::{Charset, DateStyle, SizeFormat, escape};

use crate::answer::owner_names::Owners;
use crate::flags::FieldName;
use crate::output::attribute_table::{Value, field_and_keys, value};
use crate::output::json::{EntryJson, Json};
use crate::system::screen::Screen;

/// The attributes that the user names, in their order.
pub(crate) struct FoundFields {
    names: Vec<FieldName>,
    /// Those of JSON.
    in_json: Vec<FieldName>,
    /// On a screen sizes have units, and times are dates of this zone.
    zone: TimeZone,
    style: DateStyle,
}

impl FoundFields {
    /// The fields that the user names; each counts once, at its first place.
    pub(crate) fn new(wanted: &[FieldName]) -> FoundFields {
        let mut names = Vec::new();
        for &name in wanted {
            let meant = match name {
                FieldName::All => FieldName::each().collect(),
                _ => vec![name],
            };
            for name in meant {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        FoundFields {
            in_json: in_json(&names),
            zone: match names.is_empty() {
                true => TimeZone::UTC,
                false => TimeZone::system(),
            },
            names,
            style: DateStyle::default(),
        }
    }

    /// Whether lists show paths alone.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// An entry with these attributes; without any name, with those that filters read.
    pub(crate) fn json<'a, O>(
        &'a self,
        path: &'a [u8],
        attributes: &'a Attributes,
        owners: O,
    ) -> Json<EntryJson<'a, O>> {
        Json(EntryJson {
            path,
            attributes,
            names: &self.in_json,
            owners,
        })
    }

    /// The attributes that the scan must read.
    pub(crate) fn wanted(&self) -> Fields {
        let fields = self.names.iter().map(|&name| field_and_keys(name).0);
        fields.fold(Fields::NONE, Fields::union)
    }

    /// Appends a column for each field, with a tabulator behind it; an absent attribute
    /// is an empty column.
    #[inline]
    pub(crate) fn write_columns(
        &self,
        attributes: &Attributes,
        owners: &impl Owners,
        screen: Option<Screen>,
        out: &mut Vec<u8>,
    ) {
        // Most lists are of paths alone, and some of millions.
        if !self.names.is_empty() {
            self.write_each(attributes, owners, screen, out);
        }
    }

    #[inline(never)]
    fn write_each(
        &self,
        attributes: &Attributes,
        owners: &impl Owners,
        screen: Option<Screen>,
        out: &mut Vec<u8>,
    ) {
        for name in &self.names {
            self.write_column(*name, attributes, owners, screen, out);
            out.push(b'\t');
        }
    }

    fn write_column(
        &self,
        name: FieldName,
        attributes: &Attributes,
        owners: &impl Owners,
        screen: Option<Screen>,
        out: &mut Vec<u8>,
    ) {
        let Some(value) = value(name, attributes) else {
            return;
        };
        let text = match (value, screen) {
            (Value::Bytes(bytes), Some(_)) => Some(SizeFormat::Binary.text(bytes.into())),
            (Value::Time(ns), Some(_)) => self.style.text(ns, &self.zone),
            (Value::Time(ns), None) => Some(seconds(ns)),
            (Value::User(uid), _) => Some(account(uid, owners.user(uid))),
            (Value::Group(gid), _) => Some(account(gid, owners.group(gid))),
            (Value::Text(text), _) => Some(text),
            (Value::Bytes(number), None) => return write_number(number.into(), out),
            (Value::Number(number), _) => return write_number(number, out),
        };
        out.extend_from_slice(text.unwrap_or_default().as_bytes());
    }
}

/// Rows are millions, and a text of its own for each number is memory taken and given back.
fn write_number(number: u128, out: &mut Vec<u8>) {
    // To write into a vector cannot fail. Nearly all numbers are short, and then cheaper.
    let _ = match u64::try_from(number) {
        Ok(number) => write!(out, "{number}"),
        Err(_) => write!(out, "{number}"),
    };
}

/// The attributes that filters read.
const OF_FILTERS: &[FieldName] = &[
    FieldName::Size,
    FieldName::Mtime,
    FieldName::Uid,
    FieldName::Gid,
];

/// The names for JSON, each key once, in the order of [`FieldName::each`]. The number of an
/// owner stands in the place of its name. The type is none of them: each entry has it.
fn in_json(names: &[FieldName]) -> Vec<FieldName> {
    let key = |name: FieldName| field_and_keys(name).1[0];
    let place = |name| FieldName::each().position(|other| key(other) == key(name));
    let names = if names.is_empty() { OF_FILTERS } else { names };
    let mut names = names.to_vec();
    names.retain(|name| *name != FieldName::Type);
    names.sort_by_key(|&name| (place(name), name as usize));
    names.dedup_by_key(|name| key(*name));
    names
}

/// A number of nanoseconds as seconds with nine decimals.
fn seconds(ns: i64) -> String {
    const SECOND_NS: u64 = 1_000_000_000;
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    format!("{sign}{}.{:09}", ns / SECOND_NS, ns % SECOND_NS)
}

/// The name of an account, or its number where nobody has it. A name with a tabulator
/// would look like two columns.
fn account(number: u32, name: Option<Vec<u8>>) -> String {
    match name {
        Some(name) => escape(&name, Charset::Unicode).into_owned(),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_signed_decimals() {
        for (ns, text) in [
            (0, "0.000000000"),
            (1_500_000_000, "1.500000000"),
            (-1, "-0.000000001"),
            (i64::MIN, "-9223372036.854775808"),
        ] {
            assert_eq!(seconds(ns), text);
        }
    }

    #[test]
    fn json_has_each_key_once_in_one_order() {
        use FieldName::{Gid, Group, Links, Mtime, Owner, Type, Uid};
        assert_eq!(in_json(&[Group, Uid, Type, Links]), [Links, Uid, Group]);
        assert_eq!(in_json(&[Gid, Uid, Group, Owner]), [Owner, Group]);
        assert_eq!(in_json(&[Uid, Mtime, Gid]), [Mtime, Uid, Gid]);
    }

    #[test]
    fn fields_count_once_at_their_first_place() {
        use FieldName::{All, Mtime, Size, Type};
        let fields = FoundFields::new(&[Mtime, Size, Mtime]);
        assert_eq!(fields.names, [Mtime, Size]);
        let all = FoundFields::new(&[Mtime, All]);
        assert_eq!(all.names[..3], [Mtime, Type, Size]);
        assert_eq!(all.names.len(), FieldName::each().count());
        assert!(!all.names.contains(&All));
        assert!(!FoundFields::new(&[Type]).wanted().need_stat());
    }
}
