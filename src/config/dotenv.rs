//! The `.env` file: reading it (by `dotenvy`), and changing values in it while everything else stays as it was.
//!
//! Lines are `NAME=value`, optionally after `export`. A value with spaces or `#` stands in quotes; single quotes take
//! it literally, double quotes know `\n`, `\"`, `\\` and `\$`. `dotenvy` replaces `$NAME` outside single quotes by a
//! variable, which would silently change a password that contains `$`: such a `$` is refused with advice instead.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A line of a `.env` file that cannot be read.
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
    if let Some(line) = line_with_bare_dollar(text) {
        let problem = "a $ must be written \\$, or the value must stand in single quotes";
        return Err(DotenvError { line, problem });
    }
    let lines_read = Cell::new(0);
    let lines = dotenvy::from_read_iter(DotenvLines { rest: text.as_bytes(), count: &lines_read });
    let read: Result<Vec<_>, _> = lines.collect();
    read.map_err(|error| {
        // The text of the error holds the value; only the number of its lines is taken.
        let more = match &error {
            dotenvy::Error::LineParse(value, _) => value.trim_end_matches('\n').matches('\n').count(),
            _ => 0,
        };
        let problem = "expected NAME=value, with spaces only in a quoted value and both quotes in place";
        DotenvError { line: lines_read.get() - more, problem }
    })
}

/// Gives one line per read, so that the number of lines read is known.
struct DotenvLines<'a> {
    rest: &'a [u8],
    count: &'a Cell<usize>,
}

impl Read for DotenvLines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let line = self.rest.iter().position(|byte| *byte == b'\n').map_or(self.rest.len(), |end| end + 1);
        let size = line.min(buffer.len());
        buffer[..size].copy_from_slice(&self.rest[..size]);
        self.rest = &self.rest[size..];
        if size == line && size > 0 {
            self.count.set(self.count.get() + 1);
        }
        Ok(size)
    }
}

/// The line of the first `$` that is neither escaped nor in single quotes nor in a comment.
fn line_with_bare_dollar(text: &str) -> Option<usize> {
    let (mut single, mut double, mut escaped, mut comment) = (false, false, false, false);
    let (mut line, mut before) = (1, '\n');
    for c in text.chars() {
        match c {
            '\n' if comment => comment = false,
            _ if comment => {}
            _ if escaped => escaped = false,
            '\\' if !single => escaped = true,
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            '#' if !single && !double && before.is_whitespace() => comment = true,
            '$' if !single => return Some(line),
            _ => {}
        }
        line += usize::from(c == '\n');
        before = c;
    }
    None
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

/// Splits a line `[export] NAME=value` into name and value; `None` if it is not an assignment.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    let (name, rest) = line.split_once('=')?;
    let name = name.trim_end();
    let good = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    good.then_some((name, rest.trim_start()))
}

/// The value in double quotes. A backtick, which a shell that sources the file would run as a command, gets single
/// quotes of its own.
fn quoted(value: &str) -> String {
    let mut text = String::from('"');
    for c in value.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '`' => text.push_str("\"'`'\""),
            '"' | '\\' | '$' => text.extend(['\\', c]),
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

    #[test]
    fn reads_the_usual_forms() {
        let text = "# comment\n\nA=1\nexport B = 'two words' # why\nC='a\"$b # c'\nD=\"x\\ny \\\"z\\\"\" # tail $\nE=\nF=a#b\n";
        let pairs = parse(text).unwrap();
        let expected =
            [("A", "1"), ("B", "two words"), ("C", "a\"$b # c"), ("D", "x\ny \"z\""), ("E", ""), ("F", "a#b")];
        assert_eq!(pairs, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn names_the_line_and_the_fault_but_not_the_value() {
        let line_of = |text| {
            let error = parse(text).unwrap_err();
            assert!(!error.to_string().contains("hunter2"), "{error}");
            error.line
        };
        assert_eq!(line_of("A=1\nhunter2\n"), 2);
        assert_eq!(line_of("1A=hunter2"), 1);
        assert_eq!(line_of("# one\n\nA=\"hunter2\nB=1\nC=2\n"), 3);
        assert_eq!(line_of("A=1\nB='hunter2' y\nC=2"), 2);
        assert_eq!(line_of("A=hunter2 y"), 1);
        assert_eq!(line_of("A=1\nB=\"\\q hunter2\""), 2);
    }

    #[test]
    fn a_dollar_is_never_replaced_by_a_variable() {
        for text in ["A=1\nB=pa$A", "A=1\nB=\"pa$A\"", "A='x\n$'\"$A\""] {
            let error = parse(text).unwrap_err();
            assert!(error.line == 2 && error.problem.contains("single quotes"), "{text}: {error}");
        }
        for text in ["A='pa$A'", "A=\"pa\\$A\"", "A=pa\\$A # $"] {
            assert_eq!(parse(text).unwrap(), [("A".to_owned(), "pa$A".to_owned())], "{text}");
        }
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
        fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
            let _ = parse(&text);
        }
    }
}
