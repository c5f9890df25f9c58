//! Texts that people read, in English and German. They are messages of Project Fluent in `en/` and `de/`, one file for
//! each module of this crate, with the same names in both languages. Each message is a function here, so that a message
//! without one of its variables does not compile. Texts for customers are in one module for each medium, those for the
//! staff in one for each area of pages ([`staff`]).
//!
//! The tests of this crate find a message that is missing in a language, unknown, unused, malformed or written with
//! other variables, and a file that no module reads.
//!
//! Amounts, dates and user-supplied texts are variables: this crate knows nothing about the shop. The only numbers that
//! it writes itself are those that decide between singular and plural.

mod catalogue;
pub mod invoices;
mod language;
pub mod mails;
pub mod pages;
mod phrases;
pub mod staff;
#[cfg(test)]
mod tests;

pub use language::Language;

/// Declares the messages for a module as functions, after the name of its files: a message `total` becomes
/// `total(language)`, and a message `receipt(number: &str)` becomes `receipt(language, number)`. A message without
/// variables needs no parentheses.
macro_rules! messages {
    ($file:literal: $($name:ident $(($($variable:ident: $of:ty),*))?;)*) => {
        /// Files with the messages for this module.
        pub(crate) static FILE: $crate::catalogue::MessageFile = $crate::catalogue::MessageFile::new(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/en/", $file, ".ftl")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/de/", $file, ".ftl")),
        );

        $(
            #[doc = concat!("Returns the message `", stringify!($name), "`.")]
            pub fn $name(language: $crate::Language $($(, $variable: $of)*)?) -> String {
                FILE.write(
                    language,
                    stringify!($name),
                    [$($((stringify!($variable), fluent_bundle::FluentValue::from($variable))),*)?],
                )
            }
        )*

        /// Names of the messages, each with its variables.
        #[cfg(test)]
        pub(crate) const DECLARED: &[(&str, &[&str])] =
            &[$((stringify!($name), &[$($(stringify!($variable)),*)?])),*];
    };
}

pub(crate) use messages;
