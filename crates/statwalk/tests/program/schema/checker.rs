// SPDX-License-Identifier: MIT OR Apache-2.0

//! The part of JSON Schema (draft 2020-12) that our schema uses.
//!
//! A keyword that is not known here is a panic, so the schema cannot demand anything
//! that no test checks. A full validator would bring some thirty crates.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Keywords that say nothing about a value.
const ANNOTATIONS: [&str; 6] = [
    "$schema",
    "$defs",
    "title",
    "description",
    "contentEncoding",
    "contentMediaType",
];

/// A schema with its definitions.
pub(super) struct Schema<'a> {
    pub(super) whole: &'a Value,
}

/// The names of an object's fields that a schema has described.
type Described = BTreeSet<String>;

impl Schema<'_> {
    /// Checks a value against the definition of this name; `closed` refuses a field that
    /// it does not name.
    pub(super) fn check(&self, name: &str, value: &Value, closed: bool) -> Result<(), String> {
        let described = self.matches(self.definition(name), value, "$")?;
        match closed {
            true => refuse_unknown(value, &described, "$"),
            false => Ok(()),
        }
    }

    /// Checks a value against the whole schema.
    pub(super) fn check_whole(&self, value: &Value) -> Result<(), String> {
        self.matches(self.whole, value, "$").map(drop)
    }

    fn definition(&self, name: &str) -> &Value {
        let definition = self.whole["$defs"].get(name);
        definition.unwrap_or_else(|| panic!("the schema defines {name}"))
    }

    /// Checks a value, and gives the fields that the schema describes.
    fn matches(&self, schema: &Value, value: &Value, at: &str) -> Result<Described, String> {
        let mut described = Described::new();
        let schema = schema.as_object().expect("a schema is an object");
        for (keyword, rule) in schema {
            match keyword.as_str() {
                "unevaluatedProperties" => {}
                "$ref" => {
                    let name = text(rule).strip_prefix("#/$defs/").expect("a definition");
                    described.extend(self.matches(self.definition(name), value, at)?);
                }
                "allOf" => {
                    for part in list(rule) {
                        described.extend(self.matches(part, value, at)?);
                    }
                }
                "anyOf" => described.extend(self.any_of(list(rule), value, at)?),
                "oneOf" => described.extend(self.one_of(list(rule), value, at)?),
                "properties" => described.extend(self.properties(rule, value, at)?),
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.matches(rule, item, &format!("{at}[{index}]"))?;
                    }
                }
                keyword if ANNOTATIONS.contains(&keyword) => {}
                keyword => simple(keyword, rule, value)
                    .then_some(())
                    .ok_or_else(|| format!("{at}: {value} breaks {keyword} {rule}"))?,
            }
        }
        if schema.get("unevaluatedProperties") == Some(&Value::Bool(false)) {
            refuse_unknown(value, &described, at)?;
        }
        Ok(described)
    }

    fn properties(&self, rules: &Value, value: &Value, at: &str) -> Result<Described, String> {
        let mut described = Described::new();
        let rules = rules.as_object().expect("an object of schemas");
        for (field, value) in value.as_object().into_iter().flatten() {
            if let Some(rule) = rules.get(field) {
                self.matches(rule, value, &format!("{at}.{field}"))?;
                described.insert(field.clone());
            }
        }
        Ok(described)
    }

    fn any_of(&self, rules: &[Value], value: &Value, at: &str) -> Result<Described, String> {
        let tries: Vec<_> = rules
            .iter()
            .map(|rule| self.matches(rule, value, at))
            .collect();
        match tries.iter().any(Result::is_ok) {
            true => Ok(tries.into_iter().flatten().flatten().collect()),
            false => Err(format!("{at}: fits none of {tries:?}")),
        }
    }

    fn one_of(&self, rules: &[Value], value: &Value, at: &str) -> Result<Described, String> {
        let tries: Vec<_> = rules
            .iter()
            .map(|rule| self.matches(rule, value, at))
            .collect();
        match tries.iter().filter(|outcome| outcome.is_ok()).count() {
            1 => Ok(tries.into_iter().flatten().flatten().collect()),
            0 => Err(format!("{at}: fits none of {tries:?}")),
            count => Err(format!("{at}: {value} fits {count} alternatives")),
        }
    }
}

/// Refuses the fields of an object that no schema has described.
fn refuse_unknown(value: &Value, described: &Described, at: &str) -> Result<(), String> {
    let fields = value.as_object().into_iter().flat_map(Map::keys);
    let mut unknown = fields.filter(|field| !described.contains(*field));
    match unknown.next() {
        Some(field) => Err(format!("{at}: the schema has no field {field}")),
        None => Ok(()),
    }
}

/// Whether a value obeys a keyword that looks at nothing below it.
fn simple(keyword: &str, rule: &Value, value: &Value) -> bool {
    let number = |value: &Value| value.as_f64();
    match keyword {
        "type" => match text(rule) {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            // A sum of bytes can be larger than 64 bits.
            "integer" => value.is_i64() || value.is_u64() || is_large_integer(value),
            other => panic!("the checker does not know the type {other}"),
        },
        "const" => value == rule,
        "enum" => list(rule).contains(value),
        "minimum" => number(value) >= number(rule),
        "maximum" => number(value) <= number(rule),
        "required" => list(rule)
            .iter()
            .all(|field| value.get(text(field)).is_some()),
        other => panic!("the checker does not know the keyword {other}"),
    }
}

fn is_large_integer(value: &Value) -> bool {
    value
        .as_f64()
        .is_some_and(|number| number.fract() == 0.0 && number.abs() >= 2_f64.powi(63))
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A checker that finds no fault would let every test pass.
    #[test]
    fn each_keyword_can_fail() {
        let whole = json!({"$defs": {
            "named": {"type": "object", "properties": {"a": {"type": "integer"}}},
            "closed": {
                "allOf": [{"$ref": "#/$defs/named"}],
                "properties": {"b": {"enum": ["x", "y"]}},
                "required": ["b"],
                "unevaluatedProperties": false,
            },
            "one": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]},
            "any": {"anyOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]},
            "list": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 2}},
            "fixed": {"const": 2},
        }});
        let schema = Schema { whole: &whole };
        for (name, good, bad) in [
            (
                "closed",
                vec![json!({"b": "x"}), json!({"a": 1, "b": "y"})],
                vec![
                    json!({}),
                    json!({"b": "z"}),
                    json!({"a": "1", "b": "x"}),
                    json!({"b": "x", "c": 1}),
                    json!([]),
                ],
            ),
            (
                "one",
                vec![json!(1), json!(5.5)],
                vec![json!(7), json!(1.5), json!("1")],
            ),
            (
                "any",
                vec![json!(1), json!(7), json!(5.5)],
                vec![json!(1.5), json!("1")],
            ),
            (
                "list",
                vec![json!([]), json!([1, 2])],
                vec![json!([1, 3]), json!([0]), json!([1.5]), json!({})],
            ),
            ("fixed", vec![json!(2)], vec![json!(1), json!("2")]),
        ] {
            for value in good {
                assert_eq!(schema.check(name, &value, false), Ok(()), "{name} {value}");
            }
            for value in bad {
                assert!(schema.check(name, &value, false).is_err(), "{name} {value}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "does not know the keyword pattern")]
    fn a_keyword_that_nobody_checks_is_refused() {
        let whole = json!({"$defs": {"x": {"pattern": "a"}}});
        let _ = Schema { whole: &whole }.check("x", &json!("a"), false);
    }
}
