//! Grammar of doc comments: a function's begins with a verb, any other item's with a noun.

use super::text::File;
use super::{Rule, Scope, planted_and_innocent};

/// First words of sentences that state neither the nature of an item nor the action of a function.
const QUESTION_WORDS: [&str; 9] = ["What", "How", "Where", "When", "Why", "Whether", "Who", "Which", "Whose"];

/// Words that look like verbs in the third person but are not.
const NOT_VERBS: [&str; 6] = ["As", "Always", "Its", "Is", "This", "Unless"];

/// Returns the first line of each doc comment with its line number, counted from 1, and the line of code that it
/// describes.
fn comments(file: &File) -> impl Iterator<Item = (usize, &str, &str)> {
    let lines: Vec<&str> = file.text.lines().map(str::trim_start).collect();
    let is_doc = |line: &str| line.starts_with("///") || line.starts_with("//!");
    (0..lines.len())
        .filter(|at| is_doc(lines[*at]) && (*at == 0 || !is_doc(lines[*at - 1])))
        .map(|at| {
            let rest = lines[at..].iter().copied();
            let item = rest.clone().find(|line| !is_doc(line) && !line.starts_with("#[")).unwrap_or_default();
            (at + 1, lines[at].trim_start_matches(['/', '!']).trim_start(), item)
        })
        .collect::<Vec<_>>()
        .into_iter()
}

/// Returns whether a line of code declares a function.
fn is_function(item: &str) -> bool {
    let mut words = item.split_whitespace().skip_while(|word| {
        word.starts_with("pub") || ["const", "async", "crate)", "super)"].contains(word) || word.ends_with(')')
    });
    words.next() == Some("fn")
}

/// Returns the first word of a sentence, without marks.
fn first_word(sentence: &str) -> &str {
    sentence.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or_default()
}

const NO_QUESTIONS: Rule = Rule {
    holds: "no doc comment begins with What, How, Where or another question: it says what the thing is or does",
    scope: Scope::Everywhere,
    check: |file| {
        let asks = |(number, sentence, _): (usize, &str, &str)| {
            let word = first_word(sentence);
            QUESTION_WORDS.contains(&word).then(|| (number, format!("begins with {word:?}")))
        };
        comments(file).filter_map(asks).collect()
    },
    planted: &[
        ("src/store/connect.rs", "/// Where the database is, and how it is spoken to.\npub struct DatabaseSettings;"),
        ("src/domain/order.rs", "//! What a customer ordered."),
        ("src/domain/job.rs", "    /// Whether it waits.\n    pub waits: bool,"),
        ("tools/demo/src/floor.rs", "/// Who works there.\npub struct Floor;"),
    ],
    innocent: &[
        (
            "src/store/connect.rs",
            "/// Address of the database and limits of its connections.\npub struct DatabaseSettings;",
        ),
        ("src/domain/job.rs", "/// Returns whether it waits.\n///\n/// What waits has a reason.\npub fn waits() {}"),
    ],
};

const VERBS: Rule = Rule {
    holds: "the doc comment of a function begins with a verb in the third person: Returns, Sends, Reserves",
    scope: Scope::Everywhere,
    check: |file| {
        let is_no_verb = |(number, sentence, item): (usize, &str, &str)| {
            let word = first_word(sentence);
            let is_verb =
                word.starts_with(|c: char| c.is_ascii_uppercase()) && word.ends_with('s') && !NOT_VERBS.contains(&word);
            (is_function(item) && !is_verb).then(|| (number, format!("begins with {word:?}")))
        };
        comments(file).filter_map(is_no_verb).collect()
    },
    planted: &[
        ("src/domain/order.rs", "/// A material's answers to claims.\npub(super) fn stock(mut self) {}"),
        ("src/http/error.rs", "/// As [`Self::find`], but all.\n#[must_use]\npub async fn list() {}"),
        ("src/domain/job.rs", "    /// the jobs\n    const fn jobs() {}"),
        ("tests/sim/src/plan.rs", "/// Number of orders.\npub fn orders() {}"),
    ],
    innocent: &[
        ("src/domain/order.rs", "/// Applies a material's answers to claims.\npub(super) fn stock(mut self) {}"),
        ("src/domain/order.rs", "/// Orders of customers.\npub struct Orders;\n// No doc.\nfn f() {}"),
    ],
};

pub(super) const RULES: &[&Rule] = &[&NO_QUESTIONS, &VERBS];

#[test]
fn the_rules_of_doc_comments_find_what_breaks_them() {
    planted_and_innocent(RULES);
}
