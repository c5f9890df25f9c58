//! Reads `.env` files (with `dotenvy`), and changes values in them without changing the rest of the file.
//!
//! Lines have the form `NAME=value`, optionally preceded by `export`. A value with spaces or `#` must be quoted; single
//! quotes are literal, double quotes support `\n`, `\"`, `\\` and `\$`. `dotenvy` expands `$NAME` outside single
//! quotes, which would silently change a password that contains `$`, so such a `$` is rejected, with advice.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Maximum number of symbolic links to follow.
const MAX_LINKS: usize = 40;

/// Error for a line in a `.env` file that cannot be parsed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct DotenvError {
    /// Line number, starting at 1.
    pub line: usize,
    /// Description of the error; never reveals the value.
    pub problem: &'static str,
}

/// Returns the assignments in a `.env` file, in order.
pub fn parse(text: &str) -> Result<Vec<(String, String)>, DotenvError> {
    if let Some(line) = line_with_bare_dollar(text) {
        let problem = "write a $ as \\$, or put the value in single quotes";
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
        let problem = "expected NAME=value; a value with spaces must be quoted, and both quotes must be present";
        DotenvError { line: lines_read.get() - more, problem }
    })
}

/// Reader that returns one line per read, so that the caller knows how many lines have been read.
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

/// Returns the number of the first line with a `$` that is not escaped, in single quotes or in a comment.
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

/// Returns `text` with the given values set: existing assignments are replaced in place, new ones are appended, and
/// comments, the order and other assignments are preserved. [`parse`] must accept `text`.
pub fn with_values(text: &str, values: &[(&str, &str)]) -> String {
    let mut left: Vec<_> = values.to_vec();
    let mut changed = String::new();
    let mut add = |lines: &str| {
        changed.push_str(lines);
        if !lines.ends_with('\n') {
            changed.push('\n');
        }
    };
    for (lines, name) in statements(text) {
        match values.iter().find(|(variable, _)| name.as_deref() == Some(*variable)) {
            // A name that stands twice ends up in one line: the later one would have won.
            Some((name, value)) if left.iter().any(|(variable, _)| variable == name) => {
                left.retain(|(variable, _)| variable != name);
                add(&format!("{name}={}", quoted(value)));
            }
            Some(_) => {}
            None => add(lines),
        }
    }
    left.iter().for_each(|(name, value)| add(&format!("{name}={}", quoted(value))));
    changed
}

/// Splits a text into statements, each with the name it assigns to, if any. A value that spans several lines belongs to
/// a single statement; `dotenvy` decides where a value ends.
fn statements(text: &str) -> Vec<(&str, Option<String>)> {
    let (mut statements, mut from, mut to) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        to += line.len();
        let lines = &text[from..to];
        let read: Result<Vec<_>, _> = dotenvy::from_read_iter(lines.as_bytes()).collect();
        if let Ok(assigned) = read {
            statements.push((lines, assigned.into_iter().next().map(|(name, _)| name)));
            from = to;
        }
    }
    // What cannot be read stays as it is.
    statements.extend((from < to).then(|| (&text[from..], None)));
    statements
}

/// Replaces the file at `path` atomically with one that only its owner can read. After a crash, either the old file or
/// the new one exists. If `path` is a symbolic link, its target is replaced and the link is preserved.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let path = &behind_links(path)?;
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

/// Returns the target of a symbolic link, even if the target does not exist; returns any other path unchanged.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            // No link, or not there.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
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

/// Encloses a value in double quotes. Values with backticks are enclosed in single quotes instead, because a shell that
/// sources the file would run the backticks' contents as a command.
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

    use std::collections::BTreeMap;
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

    #[test]
    fn values_over_several_lines_are_changed_as_a_whole() {
        let text = "A='x\nB=no'\nB=\"1\r\n2\" # end\nexport C='c'\n";
        assert_eq!(with_values(text, &[("B", "b")]), "A='x\nB=no'\nB=\"b\"\nexport C='c'\n");
        assert_eq!(with_values(text, &[("A", "a"), ("C", "d")]), "A=\"a\"\nB=\"1\r\n2\" # end\nC=\"d\"\n");
    }

    #[test]
    fn a_link_stays_one() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (link, file) = (folder.path().join(".env"), other.path().join("kept.env"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for text in ["A=1\n", "A=2\n"] {
            write(&link, text).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        let round = folder.path().join("round");
        std::os::unix::fs::symlink(&round, &round).unwrap();
        assert!(write(&round, "A=1\n").is_err());
    }

    /// Generates a value in one of the forms that the parser accepts.
    fn written() -> impl Strategy<Value = String> {
        let plain = "[a-z0-9.:/]{1,8}".prop_map(|text| text);
        let single = "[a-zA-Z= #\"\n\r$]{0,16}".prop_map(|text| format!("'{text}'"));
        let double = "[a-zA-Z= #'\n\r]{0,16}".prop_map(|text| format!("\"{text}\""));
        prop_oneof![plain, single, double]
    }

    proptest! {
        #[test]
        fn a_change_touches_what_it_names_and_nothing_else(
            lines in prop::collection::vec(("(export )?[A-D]", written(), "( # x='y)?\r?\n(# A='1\n)?\n?"), 0..6),
            changes in prop::collection::btree_map("[A-F]", "[^\u{0}]{0,12}", 0..4),
        ) {
            let written: Vec<String> = lines.iter().map(|(name, value, end)| format!("{name}={value}{end}")).collect();
            let text = written.concat();
            let before = parse(&text);
            prop_assume!(before.is_ok());
            let values: Vec<(&str, &str)> = changes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            // Of several assignments to one name the last one counts.
            let mut expected: BTreeMap<String, String> = before.unwrap().into_iter().collect();
            expected.extend(changes.clone());
            let after: BTreeMap<String, String> = parse(&with_values(&text, &values)).unwrap().into_iter().collect();
            prop_assert_eq!(after, expected);
        }

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
