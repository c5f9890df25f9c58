//! Colour in which a material is drawn.

/// Colours with their names in English and German.
const NAMED_COLORS: [(&str, &[&str], &[&str]); 18] = [
    ("#1b1b1f", &["black"], &["schwarz"]),
    ("#f5f5f2", &["white"], &["weiß", "weiss"]),
    ("#8a8f98", &["grey", "gray"], &["grau"]),
    ("#3c4048", &["anthracite", "charcoal"], &["anthrazit"]),
    ("#c0c4ca", &["silver"], &["silber"]),
    ("#c9a227", &["gold", "golden"], &["gold"]),
    ("#a8652f", &["bronze", "copper"], &["bronze", "kupfer"]),
    ("#d32f2f", &["red"], &["rot"]),
    ("#f57c1f", &["orange"], &["orange"]),
    ("#f6c915", &["yellow"], &["gelb"]),
    ("#2e8b46", &["green"], &["grün", "gruen"]),
    ("#6b7a3a", &["olive"], &["oliv"]),
    ("#17a2a2", &["turquoise", "teal", "cyan"], &["türkis", "tuerkis", "petrol"]),
    ("#2563c9", &["blue"], &["blau"]),
    ("#7b3fa0", &["purple", "violet"], &["lila", "violett"]),
    ("#e46aa7", &["pink", "magenta"], &["rosa", "pink"]),
    ("#7a4b2a", &["brown"], &["braun"]),
    ("#e3d5b8", &["beige", "ivory"], &["beige", "elfenbein"]),
];
/// Largest share of red, green or blue in a colour that programs write where no colour has been chosen.
const MAX_BLACK_SHARE: u8 = 0x20;

/// Parses a colour of the form `#rrggbb` into its red, green and blue shares.
pub(crate) fn shares(color: &str) -> Option<[u8; 3]> {
    let hex = color.strip_prefix('#').filter(|hex| hex.len() == 6 && hex.bytes().all(|one| one.is_ascii_hexdigit()))?;
    let share = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).ok();
    Some([share(0)?, share(2)?, share(4)?])
}

/// Returns the colour that a name mentions, in English or German. A German word may be a compound: `hellblau`.
fn named_color(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let color_of = |word: &str| {
        let is_it = |(_, english, german): &&(&str, &[&str], &[&str])| {
            english.contains(&word) || german.iter().any(|color| word.ends_with(color))
        };
        NAMED_COLORS.iter().find(is_it).map(|(color, ..)| *color)
    };
    words.rev().find_map(color_of)
}

/// Returns the colour in which a material is drawn: the recorded one, or else the one that its name mentions; `None` if
/// neither is known. A name also prevails over black, which programs record where no colour has been chosen.
pub fn shown_color<'a>(recorded: Option<&'a str>, name: &str) -> Option<&'a str> {
    let recorded = recorded.and_then(|color| Some((color, shares(color)?)));
    match recorded {
        Some((color, shares)) if shares.into_iter().any(|share| share > MAX_BLACK_SHARE) => Some(color),
        Some((color, _)) => Some(named_color(name).unwrap_or(color)),
        None => named_color(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_colour_comes_first_then_that_of_the_name() {
        assert_eq!(shown_color(Some("#d06010"), "PETG blue"), Some("#d06010"));
        assert_eq!(shown_color(None, "PETG signal orange"), Some("#f57c1f"));
        assert_eq!(shown_color(Some("blue"), "PLA Hellblau matt"), Some("#2563c9"), "a fill that is none is black");
        assert_eq!(shown_color(None, "PLA grün"), Some("#2e8b46"));
        assert_eq!(shown_color(None, "PLA, GRAY"), Some("#8a8f98"));
        for unknown in ["TPU natural", "Colored resin", ""] {
            assert_eq!(shown_color(None, unknown), None, "{unknown}");
            assert_eq!(shown_color(Some("#12345"), unknown), None, "{unknown}");
        }
    }

    #[test]
    fn black_is_believed_unless_the_name_mentions_another_colour() {
        assert_eq!(shown_color(Some("#101010"), "PLA orange"), Some("#f57c1f"));
        assert_eq!(shown_color(Some("#000000"), "PLA Blau"), Some("#2563c9"));
        assert_eq!(shown_color(Some("#101010"), "PLA galaxy black"), Some("#1b1b1f"));
        assert_eq!(shown_color(Some("#101010"), "PLA"), Some("#101010"));
        assert_eq!(shown_color(Some("#202020"), "PLA orange"), Some("#f57c1f"), "still as good as black");
        for color in ["#212020", "#202120", "#202021"] {
            assert_eq!(shown_color(Some(color), "PLA orange"), Some(color));
        }
        assert_eq!(shares("#0a0bFF"), Some([10, 11, 255]));
    }
}
