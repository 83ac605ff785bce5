// SPDX-License-Identifier: MIT OR Apache-2.0

//! Objects of JSON: a line of code for each field.

use std::time::Duration;

use serde::ser::{Serialize, SerializeMap, Serializer};
use statwalk_view::json_path;

/// A value that is an object in JSON.
pub(crate) trait Fields {
    /// Writes its fields, in their order.
    fn write(&self, object: &mut Object<impl SerializeMap>);
}

/// An object on its way out. It writes nothing more after an error.
pub(crate) struct Object<M: SerializeMap> {
    map: M,
    written: Result<(), M::Error>,
}

impl<M: SerializeMap> Object<M> {
    /// A field that is always there.
    pub(crate) fn field(&mut self, name: &str, value: impl Serialize) {
        if self.written.is_ok() {
            self.written = self.map.serialize_entry(name, &value);
        }
    }

    /// A field that is absent where its value is.
    pub(crate) fn known(&mut self, name: &str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.field(name, value);
        }
    }

    /// A field that is there where it is true.
    pub(crate) fn flag(&mut self, name: &str, value: bool) {
        self.known(name, value.then_some(true));
    }

    /// A list of objects.
    pub(crate) fn list(&mut self, name: &str, list: impl Iterator<Item: Fields> + Clone) {
        self.field(name, List(list));
    }

    /// A list of objects that is absent where it is empty.
    pub(crate) fn filled(&mut self, name: &str, list: impl Iterator<Item: Fields> + Clone) {
        if list.clone().next().is_some() {
            self.list(name, list);
        }
    }

    /// Any bytes as a text, and in base64 where they are no UTF-8.
    pub(crate) fn text(&mut self, name: &str, bytes: &[u8]) {
        let (text, base64) = json_path(bytes);
        self.field(name, text);
        if let Some(base64) = base64 {
            self.field(&format!("{name}_b64"), base64);
        }
    }

    /// A duration in seconds. Whole microseconds: the rest would be noise.
    pub(crate) fn elapsed(&mut self, elapsed: Duration) {
        self.field("elapsed_s", elapsed.as_micros() as f64 / 1e6);
    }

    /// A time since 1970: the whole seconds, rounded down, and the nanoseconds that follow.
    ///
    /// One number of nanoseconds has more digits than a double keeps, and jq and
    /// JavaScript read every number as a double.
    pub(crate) fn time(&mut self, names: [&str; 2], time_ns: Option<i64>) {
        if let Some(ns) = time_ns {
            let (seconds, rest) = seconds_and_rest(ns);
            self.field(names[0], seconds);
            self.field(names[1], rest);
        }
    }
}

fn seconds_and_rest(time_ns: i64) -> (i64, i64) {
    const SECOND_NS: i64 = 1_000_000_000;
    (time_ns.div_euclid(SECOND_NS), time_ns.rem_euclid(SECOND_NS))
}

/// The object of a value.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Fields> Serialize for Json<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = Object {
            map: serializer.serialize_map(None)?,
            written: Ok(()),
        };
        self.0.write(&mut object);
        object.written?;
        object.map.end()
    }
}

/// A list of objects, made while they are written.
struct List<I>(I);

impl<I: Iterator<Item: Fields> + Clone> Serialize for List<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone().map(Json))
    }
}

impl<T: Fields> Fields for &T {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        (*self).write(object);
    }
}

/// An object with one field, which is an object.
pub(crate) struct Field<T>(pub(crate) &'static str, pub(crate) T);

impl<T: Fields> Fields for Field<T> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field(self.0, Json(&self.1));
    }
}

/// No fields.
impl Fields for () {
    fn write(&self, _: &mut Object<impl SerializeMap>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_seconds_and_a_rest_that_is_never_negative() {
        let check = |ns, s, rest| assert_eq!(seconds_and_rest(ns), (s, rest));
        check(1_000_000_000_000_000_005, 1_000_000_000, 5);
        check(0, 0, 0);
        check(-1, -1, 999_999_999);
        check(i64::MIN, -9_223_372_037, 145_224_192);
    }
}
