//! Settings of how printed parts are judged.

use serde::Deserialize;

use crate::domain::rules::QualityRules;

/// `[quality]`: how printed parts are judged.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quality {
    /// Whether parts of finished prints count by themselves, or once a person signed them off.
    pub sign_off: SignOffMode,
    /// Whether rejected parts are made again by themselves.
    pub reprint_missing: bool,
    /// Jobs that one line of an order makes by itself for rejected parts.
    pub max_reprints: u32,
    /// Words for why parts are not good.
    pub reasons: Vec<String>,
}

impl Quality {
    /// The settings as the rules use them.
    pub fn rules(&self) -> QualityRules {
        QualityRules {
            sign_off_required: self.sign_off == SignOffMode::Required,
            reprint_missing: self.reprint_missing,
            max_reprints: self.max_reprints,
            reasons: self.reasons.clone(),
        }
    }
}

/// When the parts of a finished print count as good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignOffMode {
    /// At its end, all of them; a person may say otherwise afterwards.
    Automatic,
    /// Once a person says how many.
    Required,
}
