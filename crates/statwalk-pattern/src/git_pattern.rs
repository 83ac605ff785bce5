// SPDX-License-Identifier: MIT OR Apache-2.0

//! A line of a `.gitignore`, as git reads it (gitignore(5)).
//!
//! Lines and names are bytes. The time of a match grows with the product of both lengths,
//! whatever the pattern is.

/// A pattern with its meaning for names and paths.
#[derive(Debug)]
pub(crate) struct GitPattern {
    takes_back: bool,
    is_for_directories: bool,
    fits: Fits,
}

/// The memory of patterns, and the tokens that each match goes through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// The memory that they take.
    pub(crate) bytes: usize,
    /// The length of what each match compares sign by sign: its time grows with it.
    pub(crate) tokens: usize,
}

/// The part of a path that a pattern must fit.
#[derive(Debug)]
enum Fits {
    /// The name, byte for byte.
    Name(Vec<u8>),
    /// The end of the name: `*.o`.
    EndOfName(Vec<u8>),
    /// The name.
    NamePattern(Vec<Token>),
    /// The path below the directory of the file: bytes, and the pattern behind them.
    Path(Vec<u8>, Vec<Token>),
    /// Nothing: a `[` lacks its `]`, or a backslash stands at the end.
    Nothing,
}

#[derive(Debug)]
enum Token {
    Byte(u8),
    /// `?`: a byte, and no slash.
    Any,
    /// `[…]`: bytes, and no slash.
    Set(Box<[bool; 256]>),
    /// `*`: bytes without a slash.
    Star,
    /// `**`: bytes.
    Everything,
    /// Begins `**/`: nothing up to behind the slash, or everything and the slash.
    Directories,
}

impl GitPattern {
    /// The patterns of a file, in its order. Lines that are none are passed over.
    pub(crate) fn of_file(text: &[u8]) -> impl Iterator<Item = GitPattern> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let lines = text.split(|&byte| byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.filter_map(GitPattern::of_line)
    }

    fn of_line(line: &[u8]) -> Option<GitPattern> {
        if line.starts_with(b"#") {
            return None;
        }
        // To the kernel's and git's eyes a text ends at a NUL.
        let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
        let line = without_spaces_at_end(line);
        let (takes_back, line) = match line.strip_prefix(b"!") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (is_for_directories, pattern) = match line.strip_suffix(b"/") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        (!pattern.is_empty()).then(|| GitPattern {
            takes_back,
            is_for_directories,
            fits: Fits::of(pattern),
        })
    }

    /// The cost of the pattern.
    pub(crate) fn cost(&self) -> Cost {
        let (bytes, tokens): (&[u8], &[Token]) = match &self.fits {
            Fits::Name(bytes) | Fits::EndOfName(bytes) => (bytes, &[]),
            Fits::NamePattern(tokens) => (&[], tokens),
            Fits::Path(begin, tokens) => (begin, tokens),
            Fits::Nothing => (&[], &[]),
        };
        let sets = tokens.iter().filter(|token| matches!(token, Token::Set(_)));
        Cost {
            bytes: size_of::<GitPattern>()
                + bytes.len()
                + size_of_val(tokens)
                + sets.count() * size_of::<[bool; 256]>(),
            tokens: tokens.len(),
        }
    }

    /// Whether it takes back what another one leaves out.
    pub(crate) fn takes_back(&self) -> bool {
        self.takes_back
    }

    /// Whether it fits a path below the directory of its file.
    pub(crate) fn fits(&self, path: &[u8], is_directory: bool) -> bool {
        if self.is_for_directories && !is_directory {
            return false;
        }
        let name = || match path.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => &path[slash + 1..],
            None => path,
        };
        match &self.fits {
            Fits::Name(wanted) => name() == wanted,
            Fits::EndOfName(end) => name().ends_with(end),
            Fits::NamePattern(tokens) => fit(tokens, name()),
            Fits::Path(begin, tokens) => {
                (path.strip_prefix(&begin[..])).is_some_and(|rest| fit(tokens, rest))
            }
            Fits::Nothing => false,
        }
    }
}

impl Fits {
    fn of(pattern: &[u8]) -> Fits {
        let is_special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'\\');
        if pattern.contains(&b'/') {
            let pattern = pattern.strip_prefix(b"/").unwrap_or(pattern);
            let plain = pattern.iter().position(is_special);
            // As in git, the pattern begins anew behind the bytes before its first sign.
            let (begin, rest) = pattern.split_at(plain.unwrap_or(pattern.len()));
            return match tokens(rest) {
                Some(tokens) => Fits::Path(begin.to_vec(), tokens),
                None => Fits::Nothing,
            };
        }
        if !pattern.iter().any(is_special) {
            return Fits::Name(pattern.to_vec());
        }
        match pattern.split_first() {
            Some((b'*', end)) if !end.iter().any(is_special) => Fits::EndOfName(end.to_vec()),
            _ => tokens(pattern).map_or(Fits::Nothing, Fits::NamePattern),
        }
    }
}

/// Spaces at the end go. One behind a backslash stays, with all before it.
fn without_spaces_at_end(line: &[u8]) -> &[u8] {
    let (mut end, mut at) = (0, 0);
    while at < line.len() {
        let width = match line[at] {
            b'\\' => 2,
            _ => 1,
        };
        if line[at] != b' ' {
            end = at + width;
        }
        at += width;
    }
    &line[..end.min(line.len())]
}

/// The tokens of a pattern; absent where it fits nothing.
fn tokens(pattern: &[u8]) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        at += 1;
        let token = match byte {
            b'\\' => {
                at += 1;
                Token::Byte(*pattern.get(at - 1)?)
            }
            b'?' => Token::Any,
            b'[' => {
                let (set, end) = set(pattern, at)?;
                at = end;
                Token::Set(set)
            }
            b'*' => {
                let first = at - 1;
                while pattern.get(at) == Some(&b'*') {
                    at += 1;
                }
                let is_alone = first == 0 || pattern[first - 1] == b'/';
                match &pattern[at..] {
                    _ if at - first < 2 || !is_alone => Token::Star,
                    [] => Token::Everything,
                    [b'/', ..] => {
                        tokens.push(Token::Directories);
                        Token::Everything
                    }
                    [b'\\', b'/', ..] => Token::Everything,
                    _ => Token::Star,
                }
            }
            byte => Token::Byte(byte),
        };
        tokens.push(token);
    }
    Some(tokens)
}

/// The bytes of a set that begins at `at`, and its end.
fn set(pattern: &[u8], mut at: usize) -> Option<(Box<[bool; 256]>, usize)> {
    let mut set = Box::new([false; 256]);
    let is_not = matches!(pattern.get(at), Some(b'!' | b'^'));
    at += usize::from(is_not);
    // A bracket that comes first stands for itself. A range begins with the byte before,
    // if that is no range or class itself.
    let (mut is_first, mut before) = (true, None);
    loop {
        let byte = *pattern.get(at)?;
        at += 1;
        let next = pattern.get(at).copied();
        match byte {
            b']' if !is_first => break,
            b'-' if before.is_some() && next.is_some_and(|next| next != b']') => {
                let mut last = next?;
                at += 1;
                if last == b'\\' {
                    last = *pattern.get(at)?;
                    at += 1;
                }
                let first = before.take()?;
                (first..=last).for_each(|byte| set[usize::from(byte)] = true);
            }
            b'[' if next == Some(b':') => {
                let rest = &pattern[at + 1..];
                let end = rest.iter().position(|&byte| byte == b']')?;
                match rest[..end].strip_suffix(b":") {
                    Some(name) => {
                        let class = class(name)?;
                        (0..=255).for_each(|byte| set[usize::from(byte)] |= class(&byte));
                        at += end + 2;
                        before = None;
                    }
                    // No class: the bracket stands for itself.
                    None => {
                        set[usize::from(b'[')] = true;
                        before = Some(b'[');
                    }
                }
            }
            byte => {
                let byte = match byte {
                    b'\\' => {
                        at += 1;
                        next?
                    }
                    byte => byte,
                };
                set[usize::from(byte)] = true;
                before = Some(byte);
            }
        }
        is_first = false;
    }
    if is_not {
        set.iter_mut().for_each(|is_in| *is_in = !*is_in);
    }
    set[usize::from(b'/')] = false;
    Some((set, at))
}

/// A class of ASCII by its name (POSIX, `[[:digit:]]`).
fn class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        // git's own table of bytes has no vertical tabulator and no form feed.
        b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

/// Whether tokens fit the whole of a text. All ways are followed at once, so that none is
/// followed twice.
fn fit(tokens: &[Token], text: &[u8]) -> bool {
    const FEW: usize = 64;
    // The places among the tokens that are reached before a byte, and behind it.
    let (mut few, mut many) = ([[false; FEW]; 2], [Vec::new(), Vec::new()]);
    let [now, then] = match tokens.len() < FEW {
        true => few.each_mut().map(|places| &mut places[..=tokens.len()]),
        false => many.each_mut().map(|places| {
            places.resize(tokens.len() + 1, false);
            &mut places[..]
        }),
    };
    let (mut now, mut then) = (now, then);
    now[0] = true;
    skip(tokens, now);
    for &byte in text {
        then.fill(false);
        for (place, token) in tokens.iter().enumerate().filter(|(place, _)| now[*place]) {
            match token {
                Token::Byte(wanted) => then[place + 1] |= *wanted == byte,
                Token::Any => then[place + 1] |= byte != b'/',
                Token::Set(set) => then[place + 1] |= set[usize::from(byte)],
                Token::Star => then[place] |= byte != b'/',
                Token::Everything => then[place] = true,
                Token::Directories => {}
            }
        }
        skip(tokens, then);
        std::mem::swap(&mut now, &mut then);
        if !now.contains(&true) {
            return false;
        }
    }
    now[tokens.len()]
}

/// Reaches the places behind tokens that fit nothing, too.
fn skip(tokens: &[Token], places: &mut [bool]) {
    for (place, token) in tokens.iter().enumerate() {
        if !places[place] {
            continue;
        }
        match token {
            Token::Star | Token::Everything => places[place + 1] = true,
            Token::Directories => {
                places[place + 1] = true;
                places[place + 3] = true;
            }
            Token::Byte(_) | Token::Any | Token::Set(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::Stdio;

    use statwalk_testkit::{Scratch, Skipped, program};

    fn fits(line: &str, path: &str) -> bool {
        let patterns: Vec<_> = GitPattern::of_file(line.as_bytes()).collect();
        patterns
            .iter()
            .any(|pattern| pattern.fits(path.as_bytes(), false))
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let line = format!("x/{}b", "*a".repeat(2_000));
        let path = format!("x/{}", "a".repeat(4_000));
        assert!(!fits(&line, &path));
        assert!(fits(&line, &format!("{path}b")));
    }

    /// A file of random lines, and git's answer for each path of a tree.
    #[test]
    fn random_lines_mean_what_they_mean_in_git() {
        let scratch = Scratch::new().unwrap();
        let git = |arguments: &[&str]| {
            let mut command = program::command("git");
            command.arg("-C").arg(scratch.path()).args(arguments);
            command.env("GIT_CONFIG_GLOBAL", "/dev/null");
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            command
        };
        if git(&["init", "-q"]).output().is_err() {
            return Skipped::needs("git").report();
        }
        let names = [
            "a", "b", "ab", "ba", "b]", "a-b", "{a,b}", "1", "!a", "#", "\\", "é", " ",
        ];
        let mut paths = Vec::new();
        for first in names {
            let directory = scratch.path().join(format!("d{first}"));
            std::fs::create_dir(&directory).unwrap();
            for name in names {
                std::fs::write(directory.join(name), "").unwrap();
                paths.push(format!("d{first}/{name}"));
            }
            std::fs::write(scratch.path().join(first), "").unwrap();
            paths.push(first.to_owned());
        }
        let words = [
            "a",
            "b",
            "a",
            "b",
            "d",
            "1",
            "*",
            "**",
            "/",
            "**/",
            "/**",
            "?",
            "[",
            "]",
            "[ab]",
            "[!a]",
            "[b-a]",
            "[a-b]",
            "[]a]",
            "[[:digit:]]",
            "[[:alpha:]b]",
            "[^[:nope:]]",
            "[[:a]",
            "{a,b}",
            "\\",
            "\\a",
            " ",
            "!",
            "#",
            "-",
            "é",
            "\r",
            "\u{feff}",
            "\n",
            "\n!",
            "\n",
            "\n*",
        ];
        let mut random = 1_u64;
        let mut below = |end: usize| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) as usize % end
        };
        for round in 0..300 {
            let count = 1 + below(8);
            let text: String = (0..count).map(|_| words[below(words.len())]).collect();
            std::fs::write(scratch.path().join(".gitignore"), &text).unwrap();
            let mut child = git(&["check-ignore", "--no-index", "-z", "--stdin"])
                .spawn()
                .unwrap();
            let mut input = child.stdin.take().unwrap();
            input.write_all(paths.join("\0").as_bytes()).unwrap();
            drop(input);
            let answer = child.wait_with_output().unwrap().stdout;
            let ignored: Vec<&[u8]> = answer.split(|&byte| byte == 0).collect();
            let patterns: Vec<_> = GitPattern::of_file(text.as_bytes()).collect();
            let leave_out = |path: &str, is_directory| {
                let mut patterns = patterns.iter().rev();
                let last = patterns.find(|pattern| pattern.fits(path.as_bytes(), is_directory));
                last.is_some_and(|last| !last.takes_back())
            };
            for path in &paths {
                let above = path
                    .split_once('/')
                    .is_some_and(|(above, _)| leave_out(above, true));
                let expected = ignored.contains(&path.as_bytes());
                assert_eq!(
                    above || leave_out(path, false),
                    expected,
                    "{round} {text:?} {path}"
                );
            }
        }
    }

    #[test]
    fn lines_mean_what_they_mean_in_git() {
        for (line, path, expected) in [
            ("\u{feff}out\r\n", "out", true),
            ("a b\\ ", "a b ", true),
            ("a  ", "a", true),
            ("\\#", "#", true),
            ("*.{a,b}", "x.a", false),
            ("*.{a,b}", "x.{a,b}", true),
            ("[[:digit:]]", "7", true),
            ("[b-a]", "b", true),
            ("[b-a]", "a", false),
            ("[]a]", "]", true),
            ("[a", "[a", false),
            ("a\\", "a\\", false),
            ("a/*", "a/b/c", false),
            ("a/**", "a/b/c", true),
            ("**/c", "a/b/c", true),
            ("**/c", "c", true),
            ("**/c", "xc", false),
            ("a/**/c", "a/c", true),
            ("a/**/c", "ac", false),
            ("/b", "a/b", false),
        ] {
            assert_eq!(fits(line, path), expected, "{line:?} {path}");
        }
    }
}
