//! Log messages: docs/OPERATIONS.md explains each warning and error that the server logs, and no others.

use std::collections::BTreeSet;
use std::path::Path;

use super::documents::read;
use super::source_files;
use super::text::{File, code_of};

/// Document with a table row for each message.
const DOCUMENT: &str = "docs/OPERATIONS.md";

/// File with the messages about the shop's events, which are `format!` calls rather than log macros.
const STORY: &str = "src/platform/observe/story.rs";

/// Text that precedes a `format!` call in that file whose message is not a warning.
const INFORMATION: &str = "Severity::Info,";

/// Start of each macro call that logs a message, with its level.
const CALLS: [(&str, &str); 2] = [("warn!(", "WARN"), ("error!(", "ERROR")];

/// Level and message, with `…` for each value in the message.
type LogLine = (&'static str, String);

/// Returns the text of a file before its unit tests.
fn without_tests(file: &File) -> &str {
    file.text.split("\nmod tests {").next().unwrap_or_default()
}

/// Returns the first string literal, without line breaks and with `…` for each value; `None` if there is none.
fn first_message(text: &str) -> Option<String> {
    let literal = text.split('"').nth(1)?;
    let literal: String = literal.split("\\\n").map(str::trim_start).collect();
    let mut parts = literal.split('{');
    let mut message = parts.next()?.to_owned();
    for part in parts {
        message.push('…');
        message.push_str(part.split_once('}')?.1);
    }
    Some(message)
}

/// Returns whether a line of code contains this call, rather than one of a macro whose name merely ends with the same
/// characters.
fn has_call(line: &str, call: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(call).any(|(at, _)| !line[..at].ends_with(in_word))
}

/// Returns the warnings and errors that a file's code logs.
fn lines_of(file: &File) -> Vec<LogLine> {
    let text = without_tests(file);
    if file.path == STORY {
        let parts: Vec<&str> = text.split("format!(").collect();
        let warnings = parts.windows(2).filter(|pair| !pair[0].trim_end().ends_with(INFORMATION));
        return warnings.filter_map(|pair| Some(("WARN", first_message(pair[1])?))).collect();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for (at, line) in code_of(text).lines().enumerate() {
        for (call, level) in CALLS.iter().filter(|(call, _)| has_call(line, call)) {
            let rest = lines[at..].join("\n");
            let message = rest.split_once(call).and_then(|(_, arguments)| first_message(arguments));
            all.push((*level, message.unwrap_or_else(|| panic!("{}:{}: no message", file.path, at + 1))));
        }
    }
    all
}

/// Returns the messages that a document explains. Each needs a meaning and advice.
fn rows(document: &str) -> Vec<LogLine> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let level = CALLS.iter().find(|(_, level)| cells[0] == *level)?.1;
        let [_, message, meaning, advice] = &cells[..] else { panic!("{DOCUMENT}: a row of four cells: {line}") };
        assert!(!meaning.trim().is_empty() && !advice.trim().is_empty(), "{DOCUMENT}: an empty cell: {line}");
        Some((level, message.trim_matches('`').to_owned()))
    };
    document.lines().filter_map(row).collect()
}

/// Lists the messages that a document does not explain, and those that it explains although nothing logs them.
fn violations(document: &str, files: &[File]) -> Vec<String> {
    let rows = rows(document);
    let described: BTreeSet<LogLine> = rows.iter().cloned().collect();
    let logged: BTreeSet<LogLine> = files.iter().filter(|file| !file.is_tests()).flat_map(lines_of).collect();
    let repeated = (rows.len() != described.len()).then(|| "a line is explained twice".to_owned());
    let missing = logged.difference(&described).map(|(level, line)| format!("not explained: {level} {line}"));
    let obsolete = described.difference(&logged).map(|(level, line)| format!("nothing writes: {level} {line}"));
    repeated.into_iter().chain(missing).chain(obsolete).collect()
}

#[test]
fn operations_explain_each_warning_and_error_of_the_log() {
    let document = read(Path::new(env!("CARGO_MANIFEST_DIR")), DOCUMENT);
    let violations = violations(&document, &source_files());
    assert!(violations.is_empty(), "{DOCUMENT}:\n{}", violations.join("\n"));
    assert!(rows(&document).len() > 100, "only {} lines in the document", rows(&document).len());
}

#[test]
fn lines_without_a_row_and_rows_without_a_line_are_found() {
    let files = [
        File::new("src/a.rs", "fn f() { tracing::warn!(\"lost {it}\"); }"),
        File::new("src/a/tests.rs", "fn f() { tracing::warn!(\"of a test\"); }"),
    ];
    let row = |level: &str, line: &str| format!("| {level} | `{line}` | It was lost. | Look for it. |\n");
    assert_eq!(violations(&row("WARN", "lost …"), &files), Vec::<String>::new());
    assert_eq!(violations("", &files), ["not explained: WARN lost …"]);
    let wrong_level = violations(&row("ERROR", "lost …"), &files);
    assert_eq!(wrong_level, ["not explained: WARN lost …", "nothing writes: ERROR lost …"]);
    let twice = row("WARN", "lost …").repeat(2) + &row("WARN", "former line");
    assert_eq!(violations(&twice, &files), ["a line is explained twice", "nothing writes: WARN former line"]);
}

#[test]
fn warnings_and_errors_are_read_from_code_and_document() {
    let code = concat!(
        "fn f() {\n    tracing::warn!(%error, \"cannot {act} it; \\\n        retrying\");\n    // error!(\"a\")\n",
        "    let text = \"warn!(b)\";\n    tracing::error!(\n        name,\n        \"broken: {}\",\n        why(\"c\")\n",
        "    );\n    compile_error!(\"d\");\n    tracing::info!(\"e\");\n}\n\n#[cfg(test)]\nmod tests {\n",
        "    fn f() { error!(\"g\") }\n}\n",
    );
    let lines = [("WARN", "cannot … it; retrying".to_owned()), ("ERROR", "broken: …".to_owned())];
    assert_eq!(lines_of(&File::new("src/a.rs", code)), lines);
    let story = "return (Severity::Info, format!(\"{} is back\", x));\nformat!(\n    \"{} is off: {why}\", y)";
    assert_eq!(lines_of(&File::new(STORY, story)), [("WARN", "… is off: …".to_owned())]);
    let document = concat!(
        "| Level | Line | Meaning | What to do |\n|---|---|---|---|\n",
        "| WARN | `cannot … it; retrying` | It waits. | Nothing. |\n| ERROR | `broken: …` | It broke. | Mend it. |\n",
    );
    assert_eq!(rows(document), lines);
}
