// SPDX-License-Identifier: MIT OR Apache-2.0

//! What `Grouping::Type` and `Grouping::Category` make of a name, written a second time.

use statwalk_core::Category;

/// A name, cut at its dots.
struct Cut {
    stem: String,
    content: String,
    compression: String,
}

/// Cuts the name of a path; absent where it has no extension.
fn cut(path: &[u8]) -> Option<Cut> {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    // Each byte becomes one character.
    let name: String = name.iter().map(|&byte| char::from(byte)).collect();
    let is_odd = |c: char| !c.is_ascii_alphanumeric() && !"_-+".contains(c);
    let mut pieces: Vec<&str> = name.split('.').collect();
    let mut extensions = Vec::new();
    while let Some(last) = pieces.pop() {
        // A dot that begins the name begins no extension.
        let is_leading = pieces.is_empty() || pieces == [""];
        if is_leading || last.len() > 16 || last.contains(is_odd) {
            pieces.push(last);
            break;
        }
        extensions.push(last.to_ascii_lowercase());
    }
    let put_back = |left: &[String]| {
        let end: usize = left.iter().map(|text| text.len() + 1).sum();
        name[..pieces.join(".").len() + end].to_owned()
    };
    extensions.first().filter(|last| !last.is_empty())?;
    let compressions = "gz xz zst bz2 lz4 lzma lz lzo z bz lrz br";
    let is_compressed = compressions.split(' ').any(|text| text == extensions[0]);
    let (compression, rest) = extensions.split_at(usize::from(is_compressed));
    let compression = compression.first().cloned().unwrap_or_default();
    let numbers = rest.iter().take_while(|text| is_number(text)).count();
    let (content, left) = match rest.get(numbers).map(String::as_str) {
        Some("so") => ("so", &rest[numbers + 1..]),
        Some(log) if is_log(log) => ("log", &rest[numbers + 1..]),
        _ if rest.first().is_none_or(String::is_empty) => ("", rest),
        _ => (rest[0].as_str(), &rest[1..]),
    };
    Some(Cut {
        stem: put_back(left),
        content: content.to_owned(),
        compression,
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_log(text: &str) -> bool {
    let date = text.strip_prefix("log-").unwrap_or_default();
    text == "log" || date.len() >= 6 && !date.contains(|c: char| c != '-' && !c.is_ascii_digit())
}

/// The extension of a path.
pub(super) fn extension(path: &[u8]) -> Vec<u8> {
    let Some(cut) = cut(path) else {
        return Vec::new();
    };
    let is_kept = matches!(
        cut.content.as_str(),
        "tar" | "log" | "sql" | "json" | "csv" | "cpio" | "ko"
    );
    match (is_kept, cut.compression.as_str()) {
        (_, "") => cut.content.into_bytes(),
        (true, compression) => format!("{}.{compression}", cut.content).into_bytes(),
        (false, compression) => compression.as_bytes().to_vec(),
    }
}

/// The category of a path. The engine knows single words; their sense in a longer name is
/// found here.
pub(super) fn category(path: &[u8]) -> Category {
    let Some(cut) = cut(path) else {
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        return Category::of_name(name);
    };
    let is_compressed = !cut.compression.is_empty();
    let alone = Category::of_name(format!("x0.{}", cut.content).as_bytes());
    let is_log = Category::of_name(cut.stem.as_bytes()) == Category::Log && !cut.stem.contains('.');
    let ends_with_digit = cut.stem.ends_with(|c: char| c.is_ascii_digit());
    let is_section = cut.content.len() == 1 && "123456789".contains(&cut.content);
    match alone {
        _ if is_log && (is_compressed || is_number(&cut.content)) => Category::Log,
        _ if is_section && (is_compressed || !ends_with_digit) => Category::Document,
        Category::Other | Category::NoExtension if is_compressed => Category::Archive,
        alone => alone,
    }
}
