// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names of columns as other languages write them.

/// A name with its words as JavaScript writes them: `flagsMask`.
///
/// ```
/// assert_eq!(statwalk_stream::in_camel_case("flags_mask"), "flagsMask");
/// assert_eq!(statwalk_stream::in_camel_case("size"), "size");
/// ```
#[must_use]
pub fn in_camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, rest) = word.split_at(word.len().min(1));
        name + &head.to_uppercase() + rest
    })
}
