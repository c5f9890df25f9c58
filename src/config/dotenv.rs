//! The `.env` file: reading it, and changing values in it while everything else stays as it was.
//!
//! Lines are `NAME=value`, optionally after `export`. A value in single quotes is taken as it is, one in double quotes
//! knows `\n`, `\r`, `\t`, `\"`, `\\`, `\$` and `` \` ``; an unquoted one ends at ` #`. There is no `$NAME` expansion,
//! so a password may hold any character. Values do not span lines.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A line of a `.env` file that is not an assignment.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct DotenvError {
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong with it; never shows the value.
    pub problem: &'static str,
}

/// The assignments of a `.env` file, in their order.
pub fn parse(text: &str) -> Result<Vec<(String, String)>, DotenvError> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let fault = |problem| DotenvError { line: index + 1, problem };
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, rest) = assignment(line).ok_or_else(|| fault("expected NAME=value"))?;
        found.push((name.to_owned(), value(rest).map_err(fault)?));
    }
    Ok(found)
}

/// `text` with these values set: existing assignments are replaced where they stand, new ones added at the end, and
/// comments, order and other names are kept.
pub fn with_values(text: &str, values: &[(&str, &str)]) -> String {
    let mut left: Vec<_> = values.to_vec();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let name = assignment(line.trim()).map(|(name, _)| name);
        match values.iter().find(|(wanted, _)| Some(*wanted) == name) {
            // A name that stands twice ends up in one line: the later one would have won.
            Some((name, value)) if left.iter().any(|(wanted, _)| wanted == name) => {
                left.retain(|(wanted, _)| wanted != name);
                lines.push(format!("{name}={}", quoted(value)));
            }
            Some(_) => {}
            None => lines.push(line.to_owned()),
        }
    }
    lines.extend(left.iter().map(|(name, value)| format!("{name}={}", quoted(value))));
    lines.join("\n") + "\n"
}

/// Replaces the file at `path` in one step, readable by its owner only. A crash leaves the former file or the new one.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = folder.join(name);
    let written = write_new(&beside, text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
        return written;
    }
    // The rename itself must survive a power cut, too.
    File::open(folder)?.sync_all()
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Splits `[export] NAME=value`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    let (name, rest) = line.split_once('=')?;
    let name = name.trim_end();
    let good = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    good.then_some((name, rest.trim_start()))
}

fn value(text: &str) -> Result<String, &'static str> {
    let (value, after) = match text.chars().next() {
        Some('\'') => {
            let (value, after) = text[1..].split_once('\'').ok_or("the closing ' is missing")?;
            (value.to_owned(), after)
        }
        Some('"') => escaped(&text[1..])?,
        _ => {
            let comment = text.find(" #").into_iter().chain(text.find("\t#")).chain(text.starts_with('#').then_some(0));
            let end = comment.min().unwrap_or(text.len());
            (text[..end].trim_end().to_owned(), "")
        }
    };
    let after = after.trim_start();
    if after.is_empty() || after.starts_with('#') { Ok(value) } else { Err("text after the closing quote") }
}

/// Reads up to the closing double quote; answers the value and what follows.
fn escaped(text: &str) -> Result<(String, &str), &'static str> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => value.push(match chars.next() {
                Some((_, 'n')) => '\n',
                Some((_, 'r')) => '\r',
                Some((_, 't')) => '\t',
                Some((_, c @ ('"' | '\\' | '$' | '`'))) => c,
                _ => return Err("unknown escape after \\"),
            }),
            c => value.push(c),
        }
    }
    Err("the closing \" is missing")
}

/// The value in double quotes, so that a shell that sources the file reads the same.
fn quoted(value: &str) -> String {
    let mut text = String::from('"');
    for c in value.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '"' | '\\' | '$' | '`' => text.extend(['\\', c]),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::os::unix::fs::PermissionsExt as _;

    use proptest::prelude::*;

    use super::*;

    fn one(line: &str) -> Result<String, &'static str> {
        parse(line).map(|mut all| all.remove(0).1).map_err(|error| error.problem)
    }

    #[test]
    fn reads_the_usual_forms() {
        let text =
            "# comment\n\nA=1\nexport B = two words # why\nC='a\"$b # c'\nD=\"x\\ny \\\"z\\\"\" # tail\nE=\nF=a#b\n";
        let pairs = parse(text).unwrap();
        let expected =
            [("A", "1"), ("B", "two words"), ("C", "a\"$b # c"), ("D", "x\ny \"z\""), ("E", ""), ("F", "a#b")];
        assert_eq!(pairs, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn names_the_line_and_the_fault_but_not_the_value() {
        assert_eq!(parse("A=1\nhunter2\n").unwrap_err().to_string(), "line 2: expected NAME=value");
        assert_eq!(one("1A=x"), Err("expected NAME=value"));
        assert_eq!(one("A=\"x"), Err("the closing \" is missing"));
        assert_eq!(one("A='x"), Err("the closing ' is missing"));
        assert_eq!(one("A='x'y"), Err("text after the closing quote"));
        assert_eq!(one("A=\"\\q\""), Err("unknown escape after \\"));
    }

    #[test]
    fn changing_values_keeps_comments_order_and_other_names() {
        let text = "# mine\nA=1\nexport B=2\nUNKNOWN=yes\nB=3\n";
        let changed = with_values(text, &[("B", "new $x"), ("C", "4")]);
        assert_eq!(changed, "# mine\nA=1\nB=\"new \\$x\"\nUNKNOWN=yes\nC=\"4\"\n");
        assert_eq!(with_values("", &[("A", "1")]), "A=\"1\"\n");
    }

    #[test]
    fn a_written_file_is_the_owners_alone_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".env");
        fs::write(&path, "OLD=1\n").unwrap();
        write(&path, "NEW=1\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "NEW=1\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    proptest! {
        #[test]
        fn any_value_survives_writing_and_reading(value in "[^\u{0}]{0,40}") {
            let text = with_values("A=1 # x\n", &[("A", &value), ("B", &value)]);
            let pairs = parse(&text).unwrap();
            prop_assert_eq!(pairs, vec![("A".to_owned(), value.clone()), ("B".to_owned(), value)]);
        }

        #[test]
        fn no_text_makes_the_reader_fall(text in "\\PC{0,200}") {
            let _ = parse(&text);
        }
    }
}
