//! Skills that an agent gateway may request, and which of the gateway's users may request them.

use serde::{Deserialize, Serialize};

use crate::audit::AuditedAct;

macro_rules! skills {
    ($($skill:ident = $word:literal, $doc:literal;)*) => {
        /// Command that the agent gateway may issue.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
        pub enum Skill {
            $(#[doc = $doc] #[serde(rename = $word)] $skill,)*
        }

        impl Skill {
            /// All skills, in listing order.
            pub const ALL: &[Self] = &[$(Self::$skill,)*];

            /// Returns the skill's name in the API.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$skill => $word,)* }
            }
        }
    };
}

skills! {
    PausePrint = "pause-print", "Pauses a job, or a printer's current print.";
    ResumePrint = "resume-print", "Resumes a job, or a printer's paused print.";
    CancelPrint = "cancel-print", "Cancels a job, or a printer's current print.";
    EmergencyStop = "emergency-stop", "Stops a printer immediately.";
    PrinterStatus = "printer-status", "Reports the state of one printer.";
    FarmStatus = "farm-status", "Reports the state of all printers and the queued jobs.";
    OrderStatus = "order-status", "Reports the state of an order and its jobs.";
    StockLevel = "stock-level", "Reports the stock of one material, or of all.";
    LowStock = "low-stock", "Lists the materials below their reorder point.";
    ReleaseJob = "release-job", "Releases a job that awaits review.";
    BedCleared = "bed-cleared", "Confirms that a printer's bed is clear.";
}

impl Skill {
    /// Returns the audit log act for the skill.
    pub const fn action(self) -> AuditedAct {
        match self {
            Self::PausePrint => AuditedAct::AgentPausePrint,
            Self::ResumePrint => AuditedAct::AgentResumePrint,
            Self::CancelPrint => AuditedAct::AgentCancelPrint,
            Self::EmergencyStop => AuditedAct::AgentEmergencyStop,
            Self::PrinterStatus => AuditedAct::AgentPrinterStatus,
            Self::FarmStatus => AuditedAct::AgentFarmStatus,
            Self::OrderStatus => AuditedAct::AgentOrderStatus,
            Self::StockLevel => AuditedAct::AgentStockLevel,
            Self::LowStock => AuditedAct::AgentLowStock,
            Self::ReleaseJob => AuditedAct::AgentReleaseJob,
            Self::BedCleared => AuditedAct::AgentBedCleared,
        }
    }

    /// Returns the skill with the given name, if any.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|skill| skill.word() == word)
    }

    /// Returns the names of all skills, for an error message.
    pub fn list() -> String {
        Self::ALL.iter().map(|skill| skill.word()).collect::<Vec<_>>().join(", ")
    }
}

/// Returns whether a user of the gateway may request skills. An empty list allows every user; `*` in a pattern matches
/// any text. User IDs are opaque except for the channel prefix (`telegram:123`), so `telegram:*` allows a whole
/// channel.
pub fn may_ask(patterns: &[String], user: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| fits(pattern, user))
}

fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match text.find(piece) {
            Some(at) => text = &text[at + piece.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_skills_belong_together() {
        for skill in Skill::ALL {
            assert_eq!(Skill::of(skill.word()), Some(*skill));
            assert_eq!(serde_json::json!(skill), skill.word());
            assert_eq!(skill.action().name(), format!("agent.{}", skill.word()));
        }
        assert_eq!(Skill::ALL.len(), 11);
        assert_eq!(Skill::of("make-coffee"), None);
    }

    #[test]
    fn patterns_take_whom_they_name() {
        let list = |patterns: &[&str]| patterns.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        assert!(may_ask(&[], "anybody"));
        for (pattern, user, may) in [
            ("telegram:123", "telegram:123", true),
            ("telegram:123", "telegram:1234", false),
            ("telegram:*", "telegram:-100:topic:5", true),
            ("telegram:*", "slack:U1", false),
            ("*:boss", "slack:boss", true),
            ("*:boss", "slack:boss2", false),
            ("a*b*c", "a--b--c", true),
            ("a*b*c", "a--c--b", false),
            ("ab*ba", "aba", false),
            ("a*bb*b", "abb", false),
            ("*", "", true),
            ("", "x", false),
        ] {
            assert_eq!(may_ask(&list(&[pattern]), user), may, "{pattern} {user}");
        }
        assert!(may_ask(&list(&["slack:*", "telegram:*"]), "telegram:1"));
    }

    #[test]
    fn an_error_names_every_skill_in_listing_order() {
        let list = Skill::list();
        assert!(list.starts_with("pause-print, resume-print, cancel-print, emergency-stop, "), "{list}");
        assert!(list.ends_with(", low-stock, release-job, bed-cleared"), "{list}");
    }
}
