//! Printer actions in the audit log, described with the verbs that people use.

use serde::{Deserialize, Serialize};

use crate::aggregate::AuditFacts;
use crate::audit::{AuditSentence, AuditedAct, DONE, SUBJECT_MARK};
use crate::id::Id;
use crate::slot_label::SlotLabel;
use words::Language;
use words::staff::audit as texts;

/// Facts recorded about a printer command in the audit log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoggedDetail {
    /// Number of the slot, starting at 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    /// Material loaded into the slot; `None` if the slot was marked as empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material_id: Option<Id>,
    /// `true` if the state was switched on, `false` if it was switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<bool>,
}

impl LoggedDetail {
    /// Parses the detail of an entry; an entry without recognised facts has no detail.
    pub fn parse(detail: Option<&str>) -> Self {
        let value = detail.and_then(|text| bounded_json::read(text.as_bytes(), bounded_json::REQUEST).ok());
        value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }

    /// Returns the facts for a command that was carried out.
    pub(super) fn audit_facts(self) -> AuditFacts {
        AuditFacts { detail: serde_json::to_string(&self).ok(), ..AuditFacts::done() }
    }
}

/// Audit log entry about a printer, with the names of the objects that it mentions.
#[derive(Clone, Copy, Debug)]
pub struct LoggedAct<'a> {
    /// Name of the command, such as `printer.bed_cleared`.
    pub action: &'a str,
    /// Outcome of the command: [`DONE`] if it was carried out.
    pub outcome: &'a str,
    /// Facts of the command.
    pub detail: LoggedDetail,
    /// Label of the slot; `None` if the printer has only one slot.
    pub slot: Option<SlotLabel>,
    /// Name of the loaded material, if known.
    pub material: Option<&'a str>,
}

impl LoggedAct<'_> {
    /// Returns the act as a sentence, such as "marked the bed of" (the printer) "as clear".
    pub fn sentence(&self, language: Language) -> AuditSentence {
        let verb = if self.outcome == DONE { self.specific_verb(language) } else { None };
        match verb {
            Some(verb) => AuditSentence::of_verb(language, &verb),
            None => AuditSentence::new(language, self.action, self.outcome, None),
        }
    }

    /// Returns a verb that mentions the slot, the material, or the state that was switched. In each of them, the
    /// printer is in the case of its act ([`AuditedAct::case`]).
    fn specific_verb(&self, language: Language) -> Option<String> {
        Some(match (AuditedAct::parse(self.action)?, self.detail) {
            (AuditedAct::PrinterLoadSlot, LoggedDetail { slot: Some(_), material_id, .. }) => {
                self.load_verb(language, material_id.is_some())
            }
            (AuditedAct::PrinterRemoveSlot, _) => {
                let slot = match self.slot? {
                    SlotLabel::External => texts::external_spool(language),
                    slot => texts::slot(language, &slot.to_string()),
                };
                texts::slot_removed(language, &slot, SUBJECT_MARK)
            }
            (AuditedAct::PrinterMaintenance, LoggedDetail { on: Some(true), .. }) => {
                texts::maintenance_begun(language, SUBJECT_MARK)
            }
            (AuditedAct::PrinterMaintenance, LoggedDetail { on: Some(false), .. }) => {
                texts::maintenance_over(language, SUBJECT_MARK)
            }
            _ => return None,
        })
    }

    /// Returns the verb for a spool that was loaded, or for a slot that was marked as empty.
    fn load_verb(&self, language: Language, is_loaded: bool) -> String {
        let material = self.material.map_or_else(|| texts::some_spool(language), str::to_owned);
        let place = match self.slot {
            None => texts::spool_holder(language),
            Some(SlotLabel::External) => texts::external_holder(language),
            Some(slot) => texts::slot(language, &slot.to_string()),
        };
        match (is_loaded, self.slot) {
            (false, _) => texts::marked_empty(language, &place, SUBJECT_MARK),
            (true, None) => texts::loaded(language, &material, SUBJECT_MARK),
            (true, Some(SlotLabel::External)) => texts::loaded_onto(language, &material, &place, SUBJECT_MARK),
            (true, Some(_)) => texts::loaded_into(language, &material, &place, SUBJECT_MARK),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::Command as _;
    use crate::printer::{PrinterCommand, Spool};
    use crate::slot_label::SlotLabels;
    use crate::testing::id;

    /// Returns the sentence about an act on the printer Ada.
    fn sentence(act: &LoggedAct<'_>) -> String {
        sentence_in(Language::English, act)
    }

    fn sentence_in(language: Language, act: &LoggedAct<'_>) -> String {
        let AuditSentence { before, after } = act.sentence(language);
        after.map_or_else(|| before.clone(), |after| format!("{before}Ada{after}"))
    }

    fn act<'a>(action: &'a str, outcome: &'a str) -> LoggedAct<'a> {
        LoggedAct { action, outcome, detail: LoggedDetail::default(), slot: None, material: None }
    }

    /// Returns the entry that a command leaves.
    fn entry(command: &PrinterCommand) -> LoggedAct<'static> {
        let detail = LoggedDetail::parse(command.audit_facts().detail.as_deref());
        LoggedAct { detail, ..act(command.audited_act().name(), DONE) }
    }

    fn load(slot: u32, material: Option<u32>) -> PrinterCommand {
        let spool = Spool { material_id: material.map(id), color: None, remaining: None, spool: None };
        PrinterCommand::LoadSlot { slot, spool, expected: None }
    }

    #[test]
    fn acts_are_told_with_the_verbs_of_people() {
        assert_eq!(sentence(&act("printer.bed_cleared", DONE)), "marked the bed of Ada as clear");
        assert_eq!(sentence(&act("printer.clear_attention", DONE)), "marked Ada as checked");
        assert_eq!(sentence(&act("printer.update", DONE)), "changed the settings of Ada");
        assert_eq!(sentence(&act("printer.pause", DONE)), "paused Ada");
        assert_eq!(sentence(&act("printer.pause", "unreachable")), "tried to pause Ada");
        assert_eq!(sentence(&act("printer.load_slot", DONE)), "loaded a spool into Ada", "an entry of former versions");
        assert_eq!(sentence(&act("printer.signed_off", DONE)), "signed off parts on Ada");
        let maintenance = |on| entry(&PrinterCommand::Maintenance { on, note: None });
        assert_eq!(sentence(&maintenance(true)), "took Ada out of service");
        assert_eq!(sentence(&maintenance(false)), "returned Ada to service");
    }

    #[test]
    fn a_load_names_the_material_and_the_slot() {
        let of = |slot: u32, material: Option<u32>, labels: Option<SlotLabels>| {
            let act = entry(&load(slot, material));
            let slot = labels.and_then(|labels| Some(labels.label(act.detail.slot?)));
            let name = act.detail.material_id.map(|_| "PLA black");
            sentence(&LoggedAct { slot, material: name, ..act })
        };
        assert_eq!(of(1, Some(7), Some(SlotLabels::Numbers)), "loaded PLA black into slot 2 of Ada");
        assert_eq!(of(1, Some(7), Some(SlotLabels::Changers)), "loaded PLA black into slot A2 of Ada");
        assert_eq!(
            of(254, Some(7), Some(SlotLabels::Changers)),
            "loaded PLA black onto the external spool holder of Ada"
        );
        assert_eq!(of(0, Some(7), None), "loaded PLA black into Ada");
        assert_eq!(of(1, None, Some(SlotLabels::Tools)), "marked slot T1 of Ada as empty");
        assert_eq!(of(0, None, None), "marked the spool holder of Ada as empty");
        let gone = LoggedAct { slot: Some(SlotLabels::Tools.label(1)), ..entry(&load(1, Some(7))) };
        assert_eq!(sentence(&gone), "loaded a spool into slot T1 of Ada", "its material is gone");
        let removed = entry(&PrinterCommand::RemoveSlot(3));
        let label = removed.detail.slot.map(|slot| SlotLabels::Numbers.label(slot));
        assert_eq!(sentence(&LoggedAct { slot: label, ..removed }), "removed slot 4 from Ada");
        assert_eq!(sentence(&removed), "removed a slot of Ada");
    }

    #[test]
    fn german_sentences_name_the_material_and_the_slot() {
        let german = |act: &LoggedAct<'_>| sentence_in(Language::German, act);
        let of = |labels: Option<SlotLabels>, slot: u32, material: Option<u32>| {
            let act = entry(&load(slot, material));
            let slot = labels.map(|labels| labels.label(slot));
            german(&LoggedAct { slot, material: material.map(|_| "PLA {}"), ..act })
        };
        let of_changer = of(Some(SlotLabels::Changers), 1, Some(7));
        assert_eq!(of_changer, "hat bei Ada PLA {} in Fach A2 eingelegt");
        let external = of(Some(SlotLabels::Changers), 254, Some(7));
        assert_eq!(external, "hat bei Ada PLA {} auf den externen Spulenhalter gesteckt");
        assert_eq!(of(None, 0, Some(7)), "hat bei Ada PLA {} eingelegt");
        assert_eq!(of(None, 0, None), "hat bei Ada den Spulenhalter als leer markiert");
        let removed = entry(&PrinterCommand::RemoveSlot(3));
        assert_eq!(german(&removed), "hat bei Ada ein Fach entfernt");
        let removed = LoggedAct { slot: Some(SlotLabels::Numbers.label(3)), ..removed };
        assert_eq!(german(&removed), "hat bei Ada Fach 4 entfernt");
        let maintenance = |on| german(&entry(&PrinterCommand::Maintenance { on, note: None }));
        assert_eq!(maintenance(true), "hat Ada außer Betrieb genommen");
        assert_eq!(maintenance(false), "hat Ada wieder in Betrieb genommen");
    }

    #[test]
    fn what_is_no_detail_says_nothing() {
        for detail in [None, Some(""), Some("null"), Some("[]"), Some("{\"jobId\":null,\"error\":\"x\"}")] {
            assert_eq!(LoggedDetail::parse(detail), LoggedDetail::default(), "{detail:?}");
        }
    }
}
