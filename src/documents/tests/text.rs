//! Tests of text layout: no line is too wide, no text is lost, and long texts are fast.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::text::{Fonts, Style, TextLine};
use domain::notation::amount;
use words::Language;

const BODY: Style = Style { size: 9.5, bold: false };
/// Time limit for the longest possible invoice, in an unoptimised build on a busy machine. An algorithm that set each
/// line again for every character would take many minutes.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Returns the text of the lines in reading order.
fn words(lines: &[TextLine]) -> String {
    lines.iter().flat_map(|line| &line.runs).map(|run| run.text.as_str()).collect()
}

proptest! {
    #[test]
    fn no_line_is_wider_than_it_should_be_and_nothing_is_lost(text in "[a-zäß .,WiAV]{0,200}", width in 20_f32..300.0) {
        let fonts = Fonts::built_in().unwrap();
        let lines = fonts.typesetter().wrapped(&text, BODY, width);
        prop_assert_eq!(words(&lines), text);
        for line in &lines {
            prop_assert!(line.width <= width + 0.02, "{} of {width}", line.width);
        }
    }

    /// Verifies that lines are filled: the first word of the next line would not have fitted on the line.
    #[test]
    fn lines_are_broken_between_words(text in "([a-z]{1,8} ){1,30}", width in 80_f32..300.0) {
        let fonts = Fonts::built_in().unwrap();
        let typesetter = fonts.typesetter();
        let lines = typesetter.wrapped(&text, BODY, width);
        for pair in lines.windows(2) {
            let (this, next) = (words(&pair[..1]), words(&pair[1..]));
            prop_assert!(this.ends_with(' '), "{this:?}");
            let word = next.split_inclusive(' ').next().unwrap_or_default();
            let longer = typesetter.line(&format!("{this}{word}"), BODY);
            // Letters that stand closer in a line of their own make no difference of a point.
            prop_assert!(longer.width > width - 1.0, "{word:?} fits behind {this:?}");
        }
    }

    #[test]
    fn any_text_is_wrapped(text in any::<String>(), width in 1_f32..300.0) {
        let fonts = Fonts::built_in().unwrap();
        prop_assert!(!fonts.typesetter().wrapped(&text, BODY, width).is_empty());
    }
}

#[test]
fn line_breaks_stay_and_words_that_are_too_long_are_broken() {
    let fonts = Fonts::built_in().unwrap();
    let typesetter = fonts.typesetter();
    let lines = typesetter.wrapped("one\n\ntwo", BODY, 200.0);
    assert_eq!(lines.iter().map(|line| words(std::slice::from_ref(line))).collect::<Vec<_>>(), ["one", "", "two"]);
    let long = "W".repeat(100);
    let lines = typesetter.wrapped(&long, BODY, 100.0);
    assert!(lines.len() > 5 && words(&lines) == long);
    // A blank that must not be broken at.
    let lines = typesetter.wrapped("aaaa bbbb\u{a0}cccc", BODY, typesetter.line("aaaa bbbb", BODY).width + 1.0);
    assert_eq!(words(&lines[1..]), "bbbb cccc");
    // An amount as German writes it is set with a space that every font has, and stays on one line.
    let due = amount(Language::German, 123_450, "eur");
    assert!(fonts.lacking(&due).is_empty());
    let lines = typesetter.wrapped(&format!("aaaa {due}"), BODY, typesetter.line("aaaa 1.234,50", BODY).width + 1.0);
    assert_eq!(words(&lines[1..]), "1.234,50 €");
    // The symbols of English amounts are in the fonts as well.
    for currency in ["usd", "eur", "gbp", "jpy", "chf"] {
        assert!(fonts.lacking(&amount(Language::English, 123_450, currency)).is_empty(), "{currency}");
    }
}

#[test]
fn the_longest_invoice_is_set_in_time() {
    let fonts = Fonts::built_in().unwrap();
    let began = Instant::now();
    let typesetter = fonts.typesetter();
    let long = "abcdefghij".repeat(50);
    for _ in 0..300 {
        assert!(typesetter.wrapped(&long, BODY, 190.0).len() > 8);
    }
    assert!(began.elapsed() < MAX_TIME, "{:?}", began.elapsed());
}
