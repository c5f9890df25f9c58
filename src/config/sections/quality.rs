//! Settings for judging printed parts.

use serde::Deserialize;

use domain::rules::QualityRules;

/// `[quality]`: rules for judging printed parts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QualityConfig {
    /// Decides whether parts of finished prints count automatically, or only after an operator's sign-off.
    pub sign_off: SignOffMode,
    /// Reprints rejected parts automatically.
    pub reprint_missing: bool,
    /// Maximum number of jobs that one line of an order creates automatically for rejected parts.
    pub max_reprints: u32,
    /// Reasons for which parts may be rejected.
    pub reasons: Vec<String>,
}

impl QualityConfig {
    /// Returns the settings in the form that the domain rules use.
    pub fn rules(&self) -> QualityRules {
        QualityRules {
            sign_off_required: self.sign_off == SignOffMode::Required,
            reprint_missing: self.reprint_missing,
            max_reprints: self.max_reprints,
            reasons: self.reasons.clone(),
        }
    }
}

/// Moment at which the parts of a finished print count as good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignOffMode {
    /// All parts when the print ends; an operator may correct the number afterwards.
    Automatic,
    /// After an operator enters the number of good parts.
    Required,
}
