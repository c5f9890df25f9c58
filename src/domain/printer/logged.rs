//! Acts at a printer in the audit log, told with the verbs that people use.

use serde::{Deserialize, Serialize};

use crate::aggregate::AuditFacts;
use crate::id::Id;
use crate::slot_label::SlotLabel;

/// Verbs by name of the command: the verb of an act that was carried out, that of one that was tried, and the words
/// that follow the printer's name.
const VERBS: [(&str, &str, &str, &str); 25] = [
    ("printer.create", "added", "add", ""),
    ("printer.update", "changed the settings of", "change the settings of", ""),
    ("printer.delete", "removed", "remove", ""),
    ("printer.connect", "connected", "connect", ""),
    ("printer.disconnect", "disconnected", "disconnect", ""),
    ("printer.load_slot", "set the spool in", "set the spool in", ""),
    ("printer.remove_slot", "removed a slot from", "remove a slot from", ""),
    ("printer.emergency_stop", "sent an emergency stop to", "send an emergency stop to", ""),
    ("printer.bed_cleared", "marked the bed of", "mark the bed of", "as clear"),
    ("printer.clear_attention", "marked", "mark", "as checked"),
    ("printer.home", "homed", "home", ""),
    ("printer.maintenance", "changed the maintenance of", "change the maintenance of", ""),
    ("printer.add_reminder", "added a maintenance reminder to", "add a maintenance reminder to", ""),
    ("printer.change_reminder", "changed a maintenance reminder of", "change a maintenance reminder of", ""),
    ("printer.remove_reminder", "removed a maintenance reminder from", "remove a maintenance reminder from", ""),
    ("printer.log_maintenance", "logged maintenance of", "log maintenance of", ""),
    ("printer.print", "started a print on", "start a print on", ""),
    ("printer.pause", "paused the print on", "pause the print on", ""),
    ("printer.resume", "resumed the print on", "resume the print on", ""),
    ("printer.cancel", "cancelled the print on", "cancel the print on", ""),
    ("printer.cancel_attempt", "cancelled the print on", "cancel the print on", ""),
    ("printer.gcode", "sent G-code to", "send G-code to", ""),
    ("printer.put_file", "uploaded a file to", "upload a file to", ""),
    ("printer.delete_file", "deleted a file from", "delete a file from", ""),
    ("printer.restart_firmware", "restarted the firmware of", "restart the firmware of", ""),
];

/// Facts of a printer's command in the audit log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoggedDetail {
    /// Number of the slot, starting at 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    /// Material that was loaded into the slot; `None` if the slot was marked as empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material_id: Option<Id>,
    /// State that was switched on (`true`) or off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<bool>,
}

impl LoggedDetail {
    /// Parses the detail of an entry; an entry without known facts has none.
    pub fn parse(detail: Option<&str>) -> Self {
        let value = detail.and_then(|text| bounded_json::read(text.as_bytes(), bounded_json::REQUEST).ok());
        value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }

    /// Returns the facts of a command that was carried out.
    pub(super) fn audit_facts(self) -> AuditFacts {
        AuditFacts { detail: serde_json::to_string(&self).ok(), ..AuditFacts::done() }
    }
}

/// Entry of the audit log about a printer, with the names of what it mentions.
#[derive(Clone, Copy, Debug)]
pub struct LoggedAct<'a> {
    /// Name of the command, such as `printer.bed_cleared`.
    pub action: &'a str,
    /// `false` if the printer did not carry out the act.
    pub is_done: bool,
    /// Facts of the command.
    pub detail: LoggedDetail,
    /// Label of the slot; `None` if the printer has no other.
    pub slot: Option<SlotLabel>,
    /// Name of the loaded material; `None` if it is unknown.
    pub material: Option<&'a str>,
}

/// Predicate of a sentence about an act. The printer's name stands between its two parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogPhrase {
    /// Words before the printer's name.
    pub before: String,
    /// Words after the printer's name; often empty.
    pub after: &'static str,
}

impl LoggedAct<'_> {
    /// Returns the act as a predicate: "marked the bed of" (the printer) "as clear".
    pub fn phrase(&self) -> LogPhrase {
        match (self.action, self.detail) {
            ("printer.load_slot", LoggedDetail { slot: Some(_), material_id, .. }) if self.is_done => {
                self.load_phrase(material_id.is_some())
            }
            ("printer.remove_slot", _) if self.is_done => match self.slot {
                Some(slot) => LogPhrase { before: format!("removed {} from", slot.noun()), after: "" },
                None => self.plain_phrase(),
            },
            ("printer.maintenance", LoggedDetail { on: Some(true), .. }) if self.is_done => {
                LogPhrase { before: "put".to_owned(), after: "into maintenance" }
            }
            ("printer.maintenance", LoggedDetail { on: Some(false), .. }) if self.is_done => {
                LogPhrase { before: "put".to_owned(), after: "back into service" }
            }
            _ => self.plain_phrase(),
        }
    }

    /// Returns the phrase of a spool that was loaded, or of a slot that was marked as empty.
    fn load_phrase(&self, is_loaded: bool) -> LogPhrase {
        let material = self.material.unwrap_or("a spool");
        let place = match self.slot {
            None => "the spool holder".to_owned(),
            Some(SlotLabel::External) => "the external spool holder".to_owned(),
            Some(slot) => slot.noun(),
        };
        match (is_loaded, self.slot) {
            (false, _) => LogPhrase { before: format!("marked {place} of"), after: "as empty" },
            (true, None) => LogPhrase { before: format!("loaded {material} into"), after: "" },
            (true, Some(SlotLabel::External)) => {
                LogPhrase { before: format!("loaded {material} onto {place} of"), after: "" }
            }
            (true, Some(_)) => LogPhrase { before: format!("loaded {material} into {place} of"), after: "" },
        }
    }

    /// Returns the phrase that follows from the command's name alone.
    fn plain_phrase(&self) -> LogPhrase {
        let verbs = VERBS.iter().find(|(action, ..)| *action == self.action);
        let Some((_, past, infinitive, after)) = verbs else {
            let name = self.action.rsplit('.').next().unwrap_or_default().replace('_', " ");
            return LogPhrase { before: format!("did “{name}” on"), after: "" };
        };
        let before = if self.is_done { (*past).to_owned() } else { format!("tried to {infinitive}") };
        LogPhrase { before, after: *after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::Command as _;
    use crate::printer::{DirectAction, PrinterCommand, Spool};
    use crate::slot_label::SlotLabels;
    use crate::testing::id;

    /// Returns the sentence about an act on the printer Ada.
    fn sentence(act: &LoggedAct<'_>) -> String {
        let LogPhrase { before, after } = act.phrase();
        format!("{before} Ada {after}").trim_end().to_owned()
    }

    fn act(action: &str, is_done: bool) -> LoggedAct<'_> {
        LoggedAct { action, is_done, detail: LoggedDetail::default(), slot: None, material: None }
    }

    /// Returns the entry that a command leaves.
    fn entry(command: &PrinterCommand) -> LoggedAct<'static> {
        let detail = LoggedDetail::parse(command.audit_facts().detail.as_deref());
        LoggedAct { detail, ..act(command.name(), true) }
    }

    fn load(slot: u32, material: Option<u32>) -> PrinterCommand {
        let spool = Spool { material_id: material.map(id), color: None, remaining: None, spool: None };
        PrinterCommand::LoadSlot { slot, spool, expected: None }
    }

    #[test]
    fn acts_are_told_with_the_verbs_of_people() {
        assert_eq!(sentence(&act("printer.bed_cleared", true)), "marked the bed of Ada as clear");
        assert_eq!(sentence(&act("printer.clear_attention", true)), "marked Ada as checked");
        assert_eq!(sentence(&act("printer.update", true)), "changed the settings of Ada");
        assert_eq!(sentence(&act("printer.pause", true)), "paused the print on Ada");
        assert_eq!(sentence(&act("printer.pause", false)), "tried to pause the print on Ada");
        assert_eq!(sentence(&act("printer.load_slot", true)), "set the spool in Ada", "an entry of former versions");
        assert_eq!(sentence(&act("printer.signed_off", true)), "did “signed off” on Ada");
        let maintenance = |on| entry(&PrinterCommand::Maintenance { on, note: None });
        assert_eq!(sentence(&maintenance(true)), "put Ada into maintenance");
        assert_eq!(sentence(&maintenance(false)), "put Ada back into service");
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
        assert_eq!(sentence(&removed), "removed a slot from Ada");
    }

    #[test]
    fn every_act_of_a_person_has_its_verb() {
        use DirectAction as D;
        let direct = [
            D::Pause,
            D::Resume,
            D::Cancel,
            D::Gcode,
            D::PutFile,
            D::DeleteFile,
            D::RestartFirmware,
            D::Home,
            D::EmergencyStop,
        ];
        let commands = [
            PrinterCommand::Archive,
            PrinterCommand::Connect(true),
            PrinterCommand::Connect(false),
            load(0, None),
            PrinterCommand::RemoveSlot(0),
            PrinterCommand::EmergencyStopped,
            PrinterCommand::ClearAttention,
            PrinterCommand::Homed,
            PrinterCommand::Maintenance { on: true, note: None },
            PrinterCommand::ForgetReminder(id(1)),
        ];
        let names = direct.iter().map(|one| one.action()).chain(commands.iter().map(|one| one.name()));
        for name in names {
            assert!(VERBS.iter().any(|(action, ..)| *action == name), "{name}");
        }
        for (n, (action, ..)) in VERBS.iter().enumerate() {
            assert!(VERBS.iter().skip(n + 1).all(|(other, ..)| other != action), "{action} is listed once");
        }
    }

    #[test]
    fn what_is_no_detail_says_nothing() {
        for detail in [None, Some(""), Some("null"), Some("[]"), Some("{\"jobId\":null,\"error\":\"x\"}")] {
            assert_eq!(LoggedDetail::parse(detail), LoggedDetail::default(), "{detail:?}");
        }
    }
}
