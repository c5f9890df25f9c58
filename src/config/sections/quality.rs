//! Settings for judging printed parts.

use serde::Deserialize;

use domain::rules::QualityRules;

/// `[quality]`: rules for judging printed parts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QualityConfig {
    /// Decides whether the parts of finished prints count automatically or only after an operator signs them off.
    pub sign_off: SignOffMode,
    /// Reprints rejected parts automatically.
    pub reprint_missing: bool,
    /// Maximum number of jobs created automatically for rejected parts of one order line.
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

/// Time at which the parts of a finished print count as good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignOffMode {
    /// All parts count when the print ends; an operator can correct the number afterwards.
    Automatic,
    /// Parts count once an operator has entered the number of good ones.
    Required,
}
