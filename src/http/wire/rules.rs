//! Validation rules for individual fields. Each rule does two things in one place: it validates a value, and it adds
//! the same constraint to the schema. A test checks that the two agree.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use api_schema::shape::{Shape, date, list_of, text_of};
use regex::Regex;
use utoipa::openapi::KnownFormat;
use utoipa::openapi::schema::SchemaFormat;

use domain::amount::Amount;

/// Validation rule for values of type `T`.
pub trait Rule<T> {
    /// Validates the value; the error message continues the field's path, as in "must be above 0".
    fn judge(&self, value: &T) -> Result<(), String>;

    /// Returns the index of the first invalid item in a list, if any.
    fn faulty_part(&self, value: &T) -> Option<usize> {
        let _ = value;
        None
    }

    /// Adds the same constraint to the schema.
    fn mark(&self, schema: Shape) -> Shape;
}

fn unless(valid: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if valid { Ok(()) } else { Err(message()) }
}

/// Maximum number of characters in a text.
pub struct MaxChars(pub usize);

impl Rule<String> for MaxChars {
    fn judge(&self, text: &String) -> Result<(), String> {
        unless(text.chars().count() <= self.0, || format!("must be at most {} characters", self.0))
    }
    fn mark(&self, schema: Shape) -> Shape {
        schema.edit(|object| object.max_length = Some(self.0))
    }
}

/// Text that is neither empty nor blank. The schema can only require at least one character.
pub struct Filled;

impl Rule<String> for Filled {
    fn judge(&self, text: &String) -> Result<(), String> {
        unless(!text.trim().is_empty(), || "must not be empty".to_owned())
    }
    fn mark(&self, schema: Shape) -> Shape {
        schema.edit(|object| object.min_length = Some(1))
    }
}

/// Secret: clients generated from the document hide it, and the server never returns it. Accepts any text.
pub struct SecretText;

impl Rule<String> for SecretText {
    fn judge(&self, _: &String) -> Result<(), String> {
        Ok(())
    }
    fn mark(&self, schema: Shape) -> Shape {
        schema.edit(|object| {
            object.format = Some(SchemaFormat::KnownFormat(KnownFormat::Password));
            object.write_only = Some(true);
        })
    }
}

/// Regular expression that a text must match; created by `like!`.
pub struct Pattern {
    source: &'static str,
    message: &'static str,
    regex: LazyLock<Option<Regex>>,
}

impl Pattern {
    /// Creates a pattern; called by `like!`, which passes the same expression twice: as text for the document, and
    /// compiled.
    pub const fn new(source: &'static str, message: &'static str, regex: fn() -> Option<Regex>) -> Self {
        Self { source, message, regex: LazyLock::new(regex) }
    }
}

impl Rule<String> for &Pattern {
    fn judge(&self, text: &String) -> Result<(), String> {
        // A pattern that is no regular expression matches nothing, so that a test of its resource fails.
        let matches = self.regex.as_ref().is_some_and(|regex| regex.is_match(text));
        unless(matches, || self.message.to_owned())
    }
    fn mark(&self, schema: Shape) -> Shape {
        schema.edit(|object| object.pattern = Some(self.source.to_owned()))
    }
}

/// Declares a [`Pattern`]: its name, the regular expression, and the error message for texts that do not match. The
/// expression must have the same meaning in Rust's `regex` and in JSON Schema (ECMA 262): character classes are written
/// out.
#[macro_export]
macro_rules! like {
    ($name:ident, $pattern:literal, $message:literal) => {
        static $name: $crate::wire::Pattern =
            $crate::wire::Pattern::new($pattern, $message, || $crate::wire::regex::Regex::new($pattern).ok());
    };
}
pub use like;

like!(
    ONE_LINE_PATTERN,
    r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$",
    "must be one line, without line breaks, tabs or other control characters"
);

/// One line of text. Names, carriers, references and reasons are used in email subjects, headers and log lines, where a
/// line break would start a new line or header.
pub static ONE_LINE: &Pattern = &ONE_LINE_PATTERN;

like!(COUNTRY_PATTERN, "^[A-Za-z]{2}$", "must be a two-letter country code");

/// Two-letter country code (ISO 3166-1 alpha-2), in either case.
pub static COUNTRY: &Pattern = &COUNTRY_PATTERN;

/// Number in the given inclusive range.
pub struct Within<T>(pub RangeInclusive<T>);

impl<T: Copy + PartialOrd + Display + TryInto<isize>> Rule<T> for Within<T> {
    fn judge(&self, value: &T) -> Result<(), String> {
        unless(self.0.contains(value), || format!("must be from {} to {}", self.0.start(), self.0.end()))
    }
    fn mark(&self, schema: Shape) -> Shape {
        let (least, most) = ((*self.0.start()).try_into().ok(), (*self.0.end()).try_into().ok());
        schema.edit(|object| (object.minimum, object.maximum) = (least.map(Into::into), most.map(Into::into)))
    }
}

/// Amount or number greater than 0.
pub struct AboveZero;

impl Rule<Amount> for AboveZero {
    fn judge(&self, amount: &Amount) -> Result<(), String> {
        unless(*amount > Amount::ZERO, || "must be above 0".to_owned())
    }
    fn mark(&self, schema: Shape) -> Shape {
        // The smallest amount is a thousandth.
        schema.edit(|object| object.minimum = Some(0.001.into()))
    }
}

impl Rule<i64> for AboveZero {
    fn judge(&self, number: &i64) -> Result<(), String> {
        unless(*number > 0, || "must be above 0".to_owned())
    }
    fn mark(&self, schema: Shape) -> Shape {
        schema.edit(|object| object.minimum = Some(1.into()))
    }
}

/// Amount of 0 or more.
pub struct NotNegative;

impl Rule<Amount> for NotNegative {
    fn judge(&self, amount: &Amount) -> Result<(), String> {
        unless(*amount >= Amount::ZERO, || "must not be negative".to_owned())
    }
    fn mark(&self, schema: Shape) -> Shape {
        schema.edit(|object| object.minimum = Some(0.into()))
    }
}

/// List whose number of items is in the given inclusive range.
pub struct ItemsWithin(pub RangeInclusive<usize>);

impl<T> Rule<Vec<T>> for ItemsWithin {
    fn judge(&self, items: &Vec<T>) -> Result<(), String> {
        unless(self.0.contains(&items.len()), || format!("must have {} to {} items", self.0.start(), self.0.end()))
    }
    fn mark(&self, schema: Shape) -> Shape {
        schema.edit_list(|list| (list.min_items, list.max_items) = (Some(*self.0.start()), Some(*self.0.end())))
    }
}

/// Calendar date in the form `YYYY-MM-DD`.
pub struct CalendarDay;

impl Rule<String> for CalendarDay {
    fn judge(&self, text: &String) -> Result<(), String> {
        let is_day = text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok();
        unless(is_day, || "must be a date, YYYY-MM-DD".to_owned())
    }
    fn mark(&self, _: Shape) -> Shape {
        date()
    }
}

/// List with at least one item and no duplicates. The parameter is the noun for an item, such as "event".
pub struct OneOrMoreDistinct(pub &'static str);

impl<T: PartialEq> Rule<Vec<T>> for OneOrMoreDistinct {
    fn judge(&self, items: &Vec<T>) -> Result<(), String> {
        unless(!items.is_empty(), || format!("must contain at least one {}", self.0))?;
        unless(self.faulty_part(items).is_none(), || format!("must not contain the same {} twice", self.0))
    }
    fn faulty_part(&self, items: &Vec<T>) -> Option<usize> {
        items.iter().enumerate().position(|(at, item)| items[..at].contains(item))
    }
    fn mark(&self, schema: Shape) -> Shape {
        schema.edit_list(|list| list.min_items = Some(1)).unique_items()
    }
}

/// List of short texts.
pub struct TextList {
    /// Maximum number of texts in the list.
    pub max_items: usize,
    /// Maximum number of characters in each text.
    pub max_chars: usize,
}

impl Rule<Vec<String>> for TextList {
    fn judge(&self, texts: &Vec<String>) -> Result<(), String> {
        let fits = texts.len() <= self.max_items && texts.iter().all(|text| text.chars().count() <= self.max_chars);
        unless(fits, || {
            format!("must contain at most {} strings of at most {} characters", self.max_items, self.max_chars)
        })
    }
    fn mark(&self, _: Shape) -> Shape {
        list_of(text_of(..=self.max_chars), ..=self.max_items)
    }
}

/// Rule with a custom error message.
pub struct Worded<R>(pub R, pub &'static str);

impl<T, R: Rule<T>> Rule<T> for Worded<R> {
    fn judge(&self, value: &T) -> Result<(), String> {
        self.0.judge(value).map_err(|_| self.1.to_owned())
    }
    fn mark(&self, schema: Shape) -> Shape {
        self.0.mark(schema)
    }
}
