// SPDX-License-Identifier: MIT OR Apache-2.0

//! The strict form of the published schema, in which an object has no field that the
//! schema does not name.
//!
//! The published schema is open, because a later release adds fields: an answer of that
//! release must fit the schema of this one. So a misspelt field fits it, too.

use serde_json::{Map, Value, json};

/// Derives the strict form.
pub(super) fn strict(published: &Value) -> Value {
    let mut whole = schema_of(published);
    let definitions = published["$defs"].as_object().expect("definitions");
    // A definition alone stays open: where it is a part of an object by `allOf`, the
    // object has more fields. Each place that uses it as a whole closes it.
    let definitions: Map<_, _> = definitions
        .iter()
        .map(|(name, definition)| (name.clone(), schema_of(definition)))
        .collect();
    whole["$defs"] = definitions.into();
    whole
}

/// The strict form of a schema for a whole value.
fn closed(schema: &Value) -> Value {
    let mut schema = schema_of(schema);
    schema["unevaluatedProperties"] = json!(false);
    schema
}

/// The same for a schema that can be a part of an object: what lies below is closed.
fn schema_of(schema: &Value) -> Value {
    let fields = schema.as_object().expect("a schema is an object");
    let each = |list: &Value, form: fn(&Value) -> Value| -> Value {
        list.as_array().expect("a list").iter().map(form).collect()
    };
    let mut strict = Map::new();
    for (keyword, rule) in fields {
        let (keyword, rule) = match keyword.as_str() {
            // Open alternatives can fit several at once, closed ones must not.
            "anyOf" => ("oneOf", each(rule, closed)),
            "allOf" => ("allOf", each(rule, schema_of)),
            "items" => ("items", closed(rule)),
            "properties" => {
                let rules = rule.as_object().expect("an object of schemas");
                let rules = rules
                    .iter()
                    .map(|(name, rule)| (name.clone(), closed(rule)));
                ("properties", Value::Object(rules.collect()))
            }
            keyword => (keyword, rule.clone()),
        };
        strict.insert(keyword.to_owned(), rule);
    }
    strict.into()
}
