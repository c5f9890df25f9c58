//! Settings for accepting printed parts.

use serde::Deserialize;

use domain::rules::QualityRules;

/// `[quality]`: rules for accepting printed parts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QualityConfig {
    /// Determines whether the parts of finished prints are counted automatically or only after an operator signs them
    /// off.
    pub sign_off: SignOffMode,
    /// Reprints rejected parts automatically.
    pub reprint_missing: bool,
    /// Maximum number of jobs created automatically for rejected parts, per order line.
    pub max_reprints: u32,
    /// Permitted reasons for rejecting parts.
    pub reasons: Vec<String>,
}

impl QualityConfig {
    /// Returns the settings in the form used by the domain rules.
    pub fn rules(&self) -> QualityRules {
        QualityRules {
            sign_off_required: self.sign_off == SignOffMode::Required,
            reprint_missing: self.reprint_missing,
            max_reprints: self.max_reprints,
            reasons: self.reasons.clone(),
        }
    }
}

/// Time at which the parts of a finished print are counted as good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignOffMode {
    /// All parts are counted when the print ends; an operator can correct the number afterwards.
    Automatic,
    /// Parts are counted only after an operator enters how many are good.
    Required,
}
