// SPDX-License-Identifier: MIT OR Apache-2.0

//! Plain English in documents and in the documentation of the crates: short
//! sentences, no words that hide who acts, no clause in place of a noun.

use std::path::Path;

use super::prose::{self, Sentence};

/// The rule is 25 words; this is the limit.
const WORDS_MAX: usize = 30;

/// Words that stand where the actor's name belongs.
const FORBIDDEN: [&str; 3] = ["told", "whoever", "thereof"];

/// Records are kept as they were made.
const RECORDS: &str = "bench/record";

pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    faults.extend(faults_of(file, text));
}

fn faults_of(file: &Path, text: &str) -> Vec<String> {
    let sentences = match file.extension().and_then(|extension| extension.to_str()) {
        Some("md") if !file.starts_with(RECORDS) => prose::of_markdown(text),
        Some("rs") if is_source_of_crate(file) => prose::of_rust(text),
        _ => return Vec::new(),
    };
    let with_place = |sentence: &Sentence| {
        let fault = fault_of(sentence)?;
        let text = sentence.text.replace(prose::CODE, "`…`");
        let words: Vec<_> = text.split(' ').take(6).collect();
        let (file, line) = (file.display(), sentence.line);
        Some(format!("{file}:{line}: {fault}: {} …", words.join(" ")))
    };
    sentences.iter().filter_map(with_place).collect()
}

fn is_source_of_crate(file: &Path) -> bool {
    let mut parts = file.components().map(|part| part.as_os_str());
    (parts.next()).is_some_and(|part| part == "crates" || part == "bindings")
        && parts.nth(1).is_some_and(|part| part == "src")
}

fn fault_of(sentence: &Sentence) -> Option<String> {
    let count = sentence.words().count();
    if count > WORDS_MAX {
        return Some(format!("{count} words in a sentence"));
    }
    let is_forbidden = |word: &str| {
        let plain = word
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase();
        FORBIDDEN.into_iter().find(|forbidden| plain == *forbidden)
    };
    if let Some(word) = sentence.words().find_map(is_forbidden) {
        return Some(format!("says \"{word}\""));
    }
    let is_clause = sentence.text.starts_with("What ") && !sentence.text.contains('?');
    is_clause.then(|| "begins with \"What\" and is no question".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(file: &str, text: &str) -> Vec<String> {
        faults_of(Path::new(file), text)
    }

    #[test]
    fn long_sentences_are_faults() {
        let long = |words: usize| format!("{}\n", vec!["word"; words].join(" "));
        assert_eq!(faults("docs/a.md", &long(30)), [""; 0]);
        assert_eq!(
            faults("docs/a.md", &format!("Short.\n\n{}", long(31))),
            ["docs/a.md:3: 31 words in a sentence: word word word word word word …"]
        );
    }

    #[test]
    fn some_words_are_faults() {
        let text = "It is told.\n\n`told` is code. Whoever asks\n\nWhat is new\n\nWhat is new?\n";
        let expected = [
            "a.md:1: says \"told\": It is told. …",
            "a.md:3: says \"whoever\": Whoever asks …",
            "a.md:5: begins with \"What\" and is no question: What is new …",
        ];
        assert_eq!(faults("a.md", text), expected);
    }

    #[test]
    fn sources_of_crates_are_read_and_records_are_not() {
        let text = "/// What a thing is.\n";
        assert_eq!(faults("crates/x/src/a/b.rs", text).len(), 1);
        assert_eq!(faults("crates/x/tests/b.rs", text), [""; 0]);
        assert_eq!(faults("xtask/src/main.rs", text), [""; 0]);
        assert_eq!(faults("bench/record/a.md", "What a day.\n"), [""; 0]);
    }
}
