//! Names of an enumeration's variants, as `serde` reads and writes them, obtained from the type itself.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

use crate::shape::{Shape, word};

/// Builds an enumeration of `T`'s variant names. The variants must carry no data.
pub fn word_of<T: DeserializeOwned>() -> Shape {
    word(words_of::<T>())
}

/// Returns all variant names of `T`; empty if `T` is not an enumeration.
pub fn words_of<T: DeserializeOwned>() -> Vec<&'static str> {
    let mut words: &'static [&'static str] = &[];
    // It fails on purpose: what is wanted is what it asks for.
    let _ = T::deserialize(WordReader(&mut words));
    words.to_vec()
}

/// Deserialiser that records the variants that a type expects.
struct WordReader<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for WordReader<'_> {
    type Error = Error;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = variants;
        Err(Error::custom("only the words are asked for"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("not an enumeration"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Answer {
        Yes,
        NotYet,
        #[serde(rename = "NO")]
        No,
    }

    #[test]
    fn the_words_are_those_that_serde_reads() {
        assert_eq!(words_of::<Answer>(), ["yes", "not_yet", "NO"]);
        assert!(words_of::<String>().is_empty());
    }
}
