//! Identifiers: `UUIDv7` for everything that the server creates.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Identifier of an aggregate, a row or an event; ordered by creation time, so that newer rows sort last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Id(pub Uuid);

impl Id {
    /// Identifier of a singleton aggregate, such as [`crate::access::Access`].
    pub const ONLY: Self = Self(Uuid::nil());
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Id {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::parse_str(text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_written_with_hyphens_and_read_back() {
        let text = "01890a5d-ac96-774b-bcce-b302099a8064";
        let id: Id = text.parse().unwrap_or(Id::ONLY);
        assert_eq!((id.to_string(), format!("{id:?}")), (text.to_owned(), text.to_owned()));
        assert!("tree".parse::<Id>().is_err());
    }
}
