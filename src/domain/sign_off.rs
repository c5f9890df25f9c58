//! The sign-off of a print: an operator has inspected its parts and reports how many of them are good.
//!
//! An [`Inspection`] is the operator's input; a [`SignOff`] is its record on the attempt. The consequences for the
//! order are in [`crate::order`].

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::principal::Principal;
use crate::refusal::Refusal;
use crate::requirement::{Referenced, Requirement};
use crate::rules::QualityRules;
use crate::time::Timestamp;

/// Maximum length of the note about a print, in characters.
pub const MAX_NOTE_CHARS: usize = 500;

/// An operator's assessment of the parts of a print. Omitted fields are derived from the way the print ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Inspection {
    /// Number of good parts; if `None`, every part on the plate is good if the print finished, and none otherwise.
    pub good_count: Option<u32>,
    /// Reason for rejecting parts, which must be one of the configured reasons.
    pub reason: Option<String>,
    /// Free-text note.
    pub note: Option<String>,
    /// Uploaded photo of the parts.
    pub photo_file_id: Option<Id>,
}

impl Inspection {
    /// Returns whether every field is omitted.
    pub fn says_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Rejects a reason that is not one of the configured reasons.
    pub fn check(&self, rules: &QualityRules) -> Result<(), Refusal> {
        match &self.reason {
            Some(reason) if !rules.reasons.contains(reason) => {
                Err(Refusal::field("reason", format!("must be one of {}", rules.reasons.join(", "))))
            }
            _ => Ok(()),
        }
    }

    /// Requires that the photo has not been deleted.
    pub fn requires(&self) -> Option<Requirement> {
        self.photo_file_id.map(|file| Requirement::not_deleted(Referenced::File, file, "photoFileId"))
    }
}

/// Recorded assessment of the parts of a print.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignOff {
    /// Number of good parts, at most [`Self::parts`].
    pub good: u32,
    /// Number of parts on the plate.
    pub parts: u32,
    /// Reason why the remaining parts were rejected, if one was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Free-text note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Uploaded photo of the parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub photo_file_id: Option<Id>,
    /// `true` if no operator has inspected the parts yet, in which case the result of the print is used instead.
    #[serde(default)]
    pub automatic: bool,
    /// Principal who inspected the parts, as text; `system` while [`SignOff::automatic`] is `true`.
    pub by: String,
    /// Time of the assessment.
    pub at: Timestamp,
}

impl SignOff {
    /// Derives the sign-off from the end of a print: every part is good if the print finished, and none otherwise.
    pub fn automatic(finished: bool, parts: u32, at: Timestamp) -> Self {
        let (good, by) = (if finished { parts } else { 0 }, Principal::System.to_string());
        Self { good, parts, reason: None, note: None, photo_file_id: None, automatic: true, by, at }
    }

    /// Returns the sign-off after a further inspection of the same print. An inspection with a part count replaces
    /// everything recorded before; without a count, its other fields are added to the existing record; an empty
    /// inspection only confirms the record. Where all parts are good, none was rejected, so there is no reason.
    #[must_use]
    pub fn and_then(self, inspection: &Inspection, by: String, at: Timestamp) -> Self {
        let keeps_words = inspection.good_count.is_none();
        let good = inspection.good_count.unwrap_or(self.good).min(self.parts);
        let reason = inspection.reason.clone().or(self.reason.filter(|_| keeps_words));
        Self {
            good,
            parts: self.parts,
            reason: reason.filter(|_| good < self.parts),
            note: inspection.note.clone().or(self.note.filter(|_| keeps_words)),
            photo_file_id: inspection.photo_file_id.or(self.photo_file_id.filter(|_| keeps_words)),
            automatic: false,
            by,
            at,
        }
    }

    /// Returns whether both sign-offs make the same assessment, regardless of author and time.
    pub fn says_the_same(&self, other: &Self) -> bool {
        Self { by: String::new(), at: other.at, ..self.clone() } == Self { by: String::new(), ..other.clone() }
    }
}

/// Returns the most frequent reason among the last rejections, given latest first; of equally frequent ones, the most
/// recent. Reasons that are no longer configured do not count.
pub fn usual_reason<'a>(last: &'a [String], configured: &[String]) -> Option<&'a str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for reason in last.iter().filter(|reason| configured.contains(reason)) {
        match counts.iter_mut().find(|(name, _)| *name == reason.as_str()) {
            Some((_, count)) => *count += 1,
            None => counts.push((reason.as_str(), 1)),
        }
    }
    // Among equals, `max_by_key` takes the last, which in reverse order is the most recent one.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(reason, _)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, id};

    fn inspection(good_count: Option<u32>, reason: &str) -> Inspection {
        Inspection { good_count, reason: Some(reason.to_owned()), ..Inspection::default() }
    }

    #[test]
    fn only_a_configured_reason_is_taken() {
        let rules = Bench::new().rules.quality;
        assert_eq!((inspection(None, "adhesion").check(&rules), Inspection::default().check(&rules)), (Ok(()), Ok(())));
        let refusal = inspection(None, "mood").check(&rules).err().map(|refusal| refusal.message);
        assert_eq!(refusal.as_deref(), Some("reason: must be one of adhesion, other"));
        assert!(Inspection::default().says_nothing() && !inspection(None, "other").says_nothing());
    }

    #[test]
    fn a_photo_must_exist() {
        let with_photo = Inspection { photo_file_id: Some(id(3)), ..Inspection::default() };
        let requirement = Requirement::not_deleted(Referenced::File, id(3), "photoFileId");
        assert_eq!((with_photo.requires(), Inspection::default().requires()), (Some(requirement), None));
    }

    #[test]
    fn an_inspection_with_a_count_replaces_and_one_without_adds() {
        let failed = SignOff::automatic(false, 4, Timestamp(1));
        let finished = SignOff::automatic(true, 4, Timestamp(1));
        assert_eq!((failed.good, finished.good, finished.by.as_str(), finished.automatic), (0, 4, "system", true));
        let by = |inspection: &Inspection, before: SignOff| before.and_then(inspection, "ann".to_owned(), Timestamp(2));
        let photo = Inspection { photo_file_id: Some(id(3)), note: Some("warped".to_owned()), ..Inspection::default() };
        let noted = by(&photo, by(&inspection(Some(3), "adhesion"), finished.clone()));
        let expected = SignOff {
            good: 3,
            reason: Some("adhesion".to_owned()),
            note: Some("warped".to_owned()),
            photo_file_id: Some(id(3)),
            automatic: false,
            by: "ann".to_owned(),
            at: Timestamp(2),
            ..finished.clone()
        };
        assert_eq!(noted, expected);
        let counted = Inspection { good_count: Some(9), ..Inspection::default() };
        let expected = SignOff { automatic: false, by: "ann".to_owned(), at: Timestamp(2), ..finished.clone() };
        assert_eq!(by(&counted, noted.clone()), expected, "at most all of them, and nothing of what was said before");
        assert_eq!(by(&Inspection::default(), noted.clone()), noted);
    }

    #[test]
    fn good_parts_have_no_reason_for_their_rejection() {
        let sign_off = |good_count| {
            let finished = SignOff::automatic(true, 4, Timestamp(1));
            finished.and_then(&inspection(good_count, "adhesion"), "ann".to_owned(), Timestamp(2))
        };
        assert_eq!([Some(4), Some(9), None].map(|good| sign_off(good).reason), [None, None, None]);
        assert_eq!(sign_off(Some(3)).reason.as_deref(), Some("adhesion"));
        let noted = Inspection { note: Some("matt".to_owned()), ..Inspection::default() };
        let stored = SignOff { good: 4, ..sign_off(Some(3)) }.and_then(&noted, "ann".to_owned(), Timestamp(3));
        assert_eq!((stored.reason, stored.note.as_deref()), (None, Some("matt")));
    }

    #[test]
    fn sign_offs_are_compared_without_their_author_and_time() {
        let one = SignOff::automatic(true, 4, Timestamp(1));
        assert!(one.says_the_same(&SignOff { by: "ann".to_owned(), at: Timestamp(2), ..one.clone() }));
        for other in [
            SignOff { good: 3, ..one.clone() },
            SignOff { automatic: false, ..one.clone() },
            SignOff { note: Some("warped".to_owned()), ..one.clone() },
        ] {
            assert!(!one.says_the_same(&other), "{other:?}");
        }
    }

    #[test]
    fn the_usual_reason_is_the_most_frequent_of_late_or_the_last() {
        let own = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let configured = own(&["adhesion", "warping", "other"]);
        let usual = |last: &[&str]| usual_reason(&own(last), &configured).map(str::to_owned);
        assert_eq!(usual(&[]), None);
        assert_eq!(usual(&["warping", "adhesion"]).as_deref(), Some("warping"));
        assert_eq!(usual(&["warping", "adhesion", "adhesion"]).as_deref(), Some("adhesion"));
        assert_eq!(usual(&["moon", "moon", "other"]).as_deref(), Some("other"), "nobody can choose it any more");
    }
}
