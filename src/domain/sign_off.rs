//! The sign-off of a print: somebody has looked at its parts and says how many of them are good.
//!
//! An [`Inspection`] is what was said; a [`SignOff`] is what is recorded of it on the attempt. What follows for the
//! order is in [`crate::domain::order`].

use serde::{Deserialize, Serialize};

use crate::domain::id::Id;
use crate::domain::principal::Principal;
use crate::domain::refusal::Refusal;
use crate::domain::requirement::{Referenced, Requirement};
use crate::domain::rules::QualityRules;
use crate::domain::time::Timestamp;

/// Most characters of the note on a print.
pub const MAX_NOTE_CHARS: usize = 500;

/// What a person says of the parts of a print. What they leave out follows from how the print ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Inspection {
    /// Number of good parts; `None`: every part of the plate if the print finished, no part if it did not.
    pub good_count: Option<u32>,
    /// Why parts are not good, one of the configured words.
    pub reason: Option<String>,
    /// Free text for people.
    pub note: Option<String>,
    /// An uploaded picture of the parts.
    pub photo_file_id: Option<Id>,
}

impl Inspection {
    /// Whether everything is left out.
    pub fn says_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses a reason that is not in the shop's list.
    pub fn check(&self, rules: &QualityRules) -> Result<(), Refusal> {
        match &self.reason {
            Some(reason) if !rules.reasons.contains(reason) => {
                Err(Refusal::field("reason", format!("must be one of {}", rules.reasons.join(", "))))
            }
            _ => Ok(()),
        }
    }

    /// The picture must not be deleted at the moment when it is named.
    pub fn requires(&self) -> Option<Requirement> {
        self.photo_file_id.map(|file| Requirement::not_deleted(Referenced::File, file, "photoFileId"))
    }
}

/// What is recorded of the parts of a print.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignOff {
    /// Number of good parts, at most [`Self::parts`].
    pub good: u32,
    /// Number of parts on the plate.
    pub parts: u32,
    /// Why the others are not good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Free text for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// A picture of the parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub photo_file_id: Option<Id>,
    /// Nobody has looked yet: the end of the print stands for it.
    #[serde(default)]
    pub automatic: bool,
    /// The principal who judged the parts, as text; `system` while [`SignOff::automatic`] holds.
    pub by: String,
    /// When it was said.
    pub at: Timestamp,
}

impl SignOff {
    /// What the end of a print says by itself: every part is good if it finished, no part if it did not.
    pub fn automatic(finished: bool, parts: u32, at: Timestamp) -> Self {
        let (good, by) = (if finished { parts } else { 0 }, Principal::System.to_string());
        Self { good, parts, reason: None, note: None, photo_file_id: None, automatic: true, by, at }
    }

    /// What is recorded when somebody says more of the same print. A number replaces all that people said before; words
    /// without a number are added to it; nothing at all only confirms it.
    #[must_use]
    pub fn and_then(self, said: &Inspection, by: String, at: Timestamp) -> Self {
        let keeps_words = said.good_count.is_none();
        Self {
            good: said.good_count.unwrap_or(self.good).min(self.parts),
            parts: self.parts,
            reason: said.reason.clone().or(self.reason.filter(|_| keeps_words)),
            note: said.note.clone().or(self.note.filter(|_| keeps_words)),
            photo_file_id: said.photo_file_id.or(self.photo_file_id.filter(|_| keeps_words)),
            automatic: false,
            by,
            at,
        }
    }

    /// Whether both say the same of the parts, whoever said it.
    pub fn says_the_same(&self, other: &Self) -> bool {
        Self { by: String::new(), at: other.at, ..self.clone() } == Self { by: String::new(), ..other.clone() }
    }
}
