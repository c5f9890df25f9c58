//! Source files as the rules see them: the text, or the code without comments and the contents of literals.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// A source file of the repository.
pub struct File {
    /// Path relative to the project's folder, with `/` as separator.
    pub path: String,
    /// Unchanged text of the file.
    pub text: String,
    /// Text without comments and contents of literals; unset until a rule asks for it.
    code: OnceLock<String>,
}

impl File {
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), code: OnceLock::new() }
    }

    /// Returns the text with comments and the contents of literals blanked, preserving the lines.
    pub fn code(&self) -> &str {
        self.code.get_or_init(|| code_of(&self.text))
    }

    /// Returns whether the file is in this folder, or is the module of the same name (`src/store/` and `src/store.rs`).
    pub fn within(&self, folder: &str) -> bool {
        self.path.starts_with(folder) || self.path == format!("{}.rs", folder.trim_end_matches('/'))
    }

    pub fn is(&self, paths: &[&str]) -> bool {
        paths.contains(&self.path.as_str())
    }

    /// Returns whether the file has nothing but tests.
    pub fn is_tests(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// Returns the lines of the code for which `what` returns a message, with their line numbers.
    pub fn in_code(&self, what: impl Fn(&str) -> Option<String>) -> Vec<(usize, String)> {
        find(self.code(), what)
    }

    /// Returns the lines of the whole text, including comments, for which `what` returns a message.
    pub fn in_text(&self, what: impl Fn(&str) -> Option<String>) -> Vec<(usize, String)> {
        find(&self.text, what)
    }
}

fn find(text: &str, what: impl Fn(&str) -> Option<String>) -> Vec<(usize, String)> {
    text.lines().zip(1..).filter_map(|(line, number)| what(line).map(|what| (number, what))).collect()
}

/// Adds all source files below a folder, sorted by path.
pub fn gather(root: &Path, folder: &Path, files: &mut Vec<File>) {
    gather_unsorted(root, folder, files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
}

fn gather_unsorted(root: &Path, folder: &Path, files: &mut Vec<File>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).path();
        if path.is_dir() {
            gather_unsorted(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let parts = path.strip_prefix(root).unwrap_or(&path).components();
            let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
            files.push(File::new(&parts.join("/"), &text));
        }
    }
}

/// Returns the first word; empty if the text begins with anything else, such as the brace of a group.
pub fn word(text: &str) -> &str {
    text.split(|c: char| !is_word(c)).next().unwrap_or_default()
}

pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns a message if a line of code uses one of these crates or modules in a path (`name::`) or imports it as a
/// whole (`use name;`).
pub fn path_of(line: &str, names: &[&str]) -> Option<String> {
    let named = |name: &&&str| {
        line.match_indices(**name).any(|(at, part)| {
            let before = line.get(..at).unwrap_or_default();
            let after = line.get(at + part.len()..).unwrap_or_default();
            let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
            let imported = before.trim_start().starts_with("use ") || before.trim_start().starts_with("pub use ");
            whole && (after.starts_with("::") || imported)
        })
    };
    names.iter().find(named).map(|name| format!("uses {name}"))
}

/// Returns a message if one of these names occurs as a word, or as the start of a word in mixed case
/// (`OctoPrintClient`) or with underscores (`is_bambu`).
pub fn names(line: &str, names: &[&str]) -> Option<String> {
    let lower = line.to_lowercase();
    let named = |name: &&&str| {
        lower.match_indices(**name).any(|(at, part)| {
            let alone = |c: char| !c.is_alphabetic();
            let before = lower.get(..at).is_none_or(|text| text.is_empty() || text.ends_with(alone));
            let after = lower.get(at + part.len()..).is_none_or(|text| text.is_empty() || text.starts_with(alone));
            let next = line.get(at + part.len()..).and_then(|rest| rest.chars().next());
            before && (after || next.is_some_and(char::is_uppercase))
        })
    };
    names.iter().find(named).map(|name| format!("names {name}"))
}

/// Returns the source with comments and the contents of literals blanked, preserving the lines.
pub fn code_of(source: &str) -> String {
    let text: Vec<char> = source.chars().collect();
    let at = |index: usize| text.get(index).copied().unwrap_or('\0');
    let mut code = String::with_capacity(source.len());
    let mut index = 0;
    while index < text.len() {
        // Most characters begin nothing: they are taken together.
        let plain = text[index..].iter().position(|c| matches!(c, '/' | '"' | '\'' | 'r' | 'b'));
        let next = plain.map_or(text.len(), |count| index + count);
        if next > index {
            code.extend(&text[index..next]);
            index = next;
            continue;
        }
        let end = match (at(index), at(index + 1)) {
            ('/', '/') => line_end(&text, index),
            ('/', '*') => comment_end(&text, index),
            ('"', _) => string_end(&text, index),
            ('r', '"' | '#') if index == 0 || !is_word(at(index - 1)) || at(index - 1) == 'b' => {
                raw_end(&text, index).unwrap_or(index)
            }
            ('\'', '\\') => (index + 3..text.len()).find(|end| at(*end) == '\'').map_or(text.len(), |end| end + 1),
            ('\'', _) if at(index + 2) == '\'' => index + 3,
            _ => index,
        };
        if end > index {
            code.extend((index..end).map(|index| if at(index) == '\n' { '\n' } else { ' ' }));
            index = end;
        } else {
            // The `b` of a byte string is part of the literal.
            let literal = at(index) == 'b' && (at(index + 1) == '"' || (at(index + 1) == 'r' && at(index + 2) == '"'));
            code.push(if literal { ' ' } else { at(index) });
            index += 1;
        }
    }
    code
}

fn line_end(text: &[char], start: usize) -> usize {
    (start..text.len()).find(|at| text[*at] == '\n').unwrap_or(text.len())
}

fn comment_end(text: &[char], start: usize) -> usize {
    let (mut depth, mut at) = (0, start);
    while at < text.len() {
        match text.get(at..at + 2) {
            Some(['/', '*']) => (depth, at) = (depth + 1, at + 2),
            Some(['*', '/']) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn string_end(text: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the end of a raw string that starts at this position; `None` for a raw identifier.
fn raw_end(text: &[char], start: usize) -> Option<usize> {
    let hashes = text.get(start + 1..)?.iter().take_while(|c| **c == '#').count();
    let opened = start + 1 + hashes;
    if text.get(opened) != Some(&'"') {
        return None;
    }
    let closes =
        |at: &usize| text[*at] == '"' && text[*at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes;
    (opened + 1..text.len()).find(closes).map(|at| at + 1 + hashes)
}

#[test]
fn code_is_told_from_comments_and_literals() {
    let source = concat!(
        "a /* b /* c */ d */ e // f\n",
        "\"g \\\" h\" i r#\"j \" k\"# l 'm' '\\'' n 'o: p\n",
        "b\"q\nr\" s br\"t\" u",
    );
    let code = code_of(source);
    let rest: Vec<&str> = words(&code).collect();
    assert_eq!(rest, ["a", "e", "i", "l", "n", "o", "p", "s", "u"]);
    assert_eq!(code.lines().count(), source.lines().count());
}
