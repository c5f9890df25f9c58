//! Filament changers (AMS): the contents of their slots, and the slots from which a print takes its filaments. Slots
//! are numbered as on the printer: changer number times four plus position.

mod choose;

use serde_json::Value;

use super::report::{integer, number, unsigned};
use crate::adapter::{PrinterError, RequestedSlots};
use domain::amount::Amount;
use domain::launch::{FilamentSlot, ReportedSpool};
use domain::printer_status::ReportedSlot;
use domain::slot_label::{SlotLabel, SlotLabels};

/// Number of slots per changer.
const SLOTS_PER_CHANGER: u64 = 4;
/// Maximum number of changers read.
const MAX_CHANGERS: u64 = 16;
/// Slot value for a filament that the print does not use.
const UNUSED_FILAMENT: i64 = -1;
/// Maximum number of filaments per file.
const MAX_FILAMENTS: usize = 64;
/// Maximum length of a stored filament kind, in characters.
const MAX_KIND_CHARS: usize = 40;
/// Slot number of the external spool. No changer slot has this number.
pub(super) const BESIDE_SLOT: u32 = 254;

/// Returns the label of a slot on the changers.
fn label(slot: u32) -> SlotLabel {
    SlotLabels::Changers.label(slot)
}

/// Contents of the changers' slots and the external spool, and the source that currently feeds the nozzle.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Changer {
    places: Vec<ChangerSlot>,
    /// Slot that currently feeds the nozzle, or [`BESIDE_SLOT`].
    now: Option<u32>,
    /// Filament kind of the external spool; `None` if none is reported.
    beside: Option<String>,
}

/// Slot of a changer, with its spool.
#[derive(Clone, PartialEq, Eq, Debug)]
struct ChangerSlot {
    slot: u32,
    spool: ReportedSpool,
    /// Filament kind, such as `PLA`.
    kind: Option<String>,
}

/// Filament source of a print, in the form of the start command's parameters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct FilamentSource {
    /// `true` to feed from the changers, `false` to feed from the external spool.
    pub(super) use_ams: bool,
    /// Slot for each filament in the file; empty to use the external spool.
    pub(super) mapping: Vec<i64>,
}

impl Changer {
    /// Parses the fields `ams` and `vt_tray` of a report.
    pub(super) fn of(ams: Option<&Value>, beside: Option<&Value>) -> Self {
        let place = |(slot, tray): (u32, &Value)| {
            let ReportedSlot { slot, vendor_code, color, .. } = spool(slot, tray).bounded();
            ChangerSlot { slot, spool: ReportedSpool { vendor_code, color }, kind: kind(tray) }
        };
        let places: Vec<ChangerSlot> = trays(ams).map(place).collect();
        let now = ams.and_then(|ams| ams.get("tray_now")).and_then(unsigned).and_then(|now| u32::try_from(now).ok());
        let now = now.filter(|now| *now == BESIDE_SLOT || places.iter().any(|place| place.slot == *now));
        Self { places, now, beside: beside.and_then(kind) }
    }

    fn place(&self, slot: u32) -> Option<&ChangerSlot> {
        self.places.iter().find(|place| place.slot == slot)
    }

    /// Returns the source for a print whose filaments come from the given slots; `None` means a filament that the print
    /// does not use. If there are no slots, returns the source for a print with one filament about which nothing is
    /// known.
    ///
    /// A slot that the printer reported when the slot was chosen must still hold the same spool. A filament chosen from
    /// the changers therefore never comes from the external spool. A slot that an operator declared but the printer did
    /// not report stands for the external spool.
    pub(super) fn feed(&self, filaments: &[Option<FilamentSlot>]) -> Result<FilamentSource, PrinterError> {
        let used: Vec<&FilamentSlot> = filaments.iter().flatten().collect();
        if used.is_empty() {
            // At least one is chosen, so this ends.
            return self.feed(&self.choose(&RequestedSlots::default())?);
        }
        if filaments.len() > MAX_FILAMENTS {
            return Err(PrinterError::Invalid(format!("a print can use at most {MAX_FILAMENTS} filaments")));
        }
        for one in &used {
            let there = self.place(one.slot).map(|place| &place.spool);
            if there != one.spool.as_ref() {
                let what = if there.is_some() { "has changed" } else { "is gone" };
                return Err(PrinterError::Invalid(format!(
                    "slot {} of the filament changer {what} since it was chosen for the print",
                    label(one.slot)
                )));
            }
        }
        let mut beside: Vec<u32> = used.iter().filter(|one| one.spool.is_none()).map(|one| one.slot).collect();
        let mixed = beside.len() < used.len();
        beside.sort_unstable();
        beside.dedup();
        match &beside[..] {
            [] => {
                let of = |one: &Option<FilamentSlot>| one.as_ref().map_or(UNUSED_FILAMENT, |one| i64::from(one.slot));
                Ok(FilamentSource { use_ams: true, mapping: filaments.iter().map(of).collect() })
            }
            [_] if !mixed => Ok(FilamentSource::default()),
            _ => Err(PrinterError::Invalid(
                "the printer can use either its filament changer or the one external spool, not both".to_owned(),
            )),
        }
    }
}

/// Returns the slots of all changers, each with its report.
fn trays(ams: Option<&Value>) -> impl Iterator<Item = (u32, &Value)> {
    let changers = ams.and_then(|ams| ams.get("ams")).and_then(Value::as_array).into_iter().flatten();
    changers.filter_map(|changer| Some((id(changer, MAX_CHANGERS)?, changer))).flat_map(|(number, changer)| {
        let trays = changer.get("tray").and_then(Value::as_array).into_iter().flatten();
        trays.filter_map(move |tray| {
            Some((u32::try_from(number * SLOTS_PER_CHANGER + id(tray, SLOTS_PER_CHANGER)?).ok()?, tray))
        })
    })
}

fn id(value: &Value, below: u64) -> Option<u64> {
    value.get("id").and_then(unsigned).filter(|id| *id < below)
}

/// Returns the spools reported in the changers' slots.
pub(super) fn reported(ams: Option<&Value>) -> Vec<ReportedSlot> {
    trays(ams).map(|(slot, tray)| spool(slot, tray)).collect()
}

fn tray_text<'a>(tray: &'a Value, name: &str) -> Option<&'a str> {
    tray.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// Returns the filament kind of the spool in a slot.
fn kind(tray: &Value) -> Option<String> {
    tray_text(tray, "tray_type").map(|kind| kind.chars().take(MAX_KIND_CHARS).collect())
}

fn spool(slot: u32, tray: &Value) -> ReportedSlot {
    let text = |name: &str| tray_text(tray, name);
    // Variants of a material differ in this code alone. A spool that nobody set has none.
    let vendor_code = text("tray_info_idx").or_else(|| text("tray_type")).map(str::to_owned);
    let color = text("tray_color")
        .filter(|digits| digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .filter(|_| vendor_code.is_some())
        .map(|digits| format!("#{}", digits[..6].to_ascii_lowercase()));
    // Only spools with a tag are weighed, as a share of the full one.
    let tagged = text("tag_uid").is_some_and(|tag| tag.bytes().any(|byte| byte != b'0'));
    let share = tray.get("remain").and_then(integer).filter(|percent| tagged && (0..=100).contains(percent));
    let grams = tray.get("tray_weight").and_then(number).filter(|grams| (1.0..100_000.0).contains(grams));
    let remaining = share.zip(grams).map(|(percent, full)| Amount((full * percent as f64 * 10.0).round() as i64));
    ReportedSlot { slot, vendor_code, kind: kind(tray), color, remaining }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use serde_json::json;

    use super::*;

    fn two_changers() -> Value {
        json!({"tray_now": "2", "ams": [
            {"id": "0", "tray": [
                {"id": "0", "tray_info_idx": "GFA00", "tray_type": "PLA", "tray_color": "000000FF", "remain": 40,
                 "tray_weight": "1000", "tag_uid": "A1B2C3D400000100"},
                {"id": "1", "tray_info_idx": "GFA01", "tray_color": "FF0000FF", "remain": -1, "tray_weight": "1000",
                 "tag_uid": "0000000000000000"},
                {"id": "2"},
                {"id": "9", "tray_info_idx": "no such place"},
            ]},
            {"id": 1, "tray": [{"id": 3, "tray_type": "PETG", "tray_color": "nonsense", "remain": "70", "tray_weight": 250, "tag_uid": "1"}]},
            {"id": "99", "tray": [{"id": "0"}]},
        ]})
    }

    #[test]
    fn spools_are_read_as_the_printer_numbers_them() {
        let ams = two_changers();
        let spools = reported(Some(&ams));
        let fields = |n: usize| {
            (spools[n].slot, spools[n].vendor_code.as_deref(), spools[n].color.as_deref(), spools[n].remaining)
        };
        assert_eq!(spools.len(), 4);
        assert_eq!(fields(0), (0, Some("GFA00"), Some("#000000"), Some(Amount::units(400))));
        assert_eq!(fields(1), (1, Some("GFA01"), Some("#ff0000"), None), "without a tag nobody weighs it");
        assert_eq!(fields(2), (2, None, None, None), "empty");
        assert_eq!(fields(3), (7, Some("PETG"), None, Some(Amount::units(175))));
        assert!(reported(None).is_empty() && reported(Some(&json!({"ams": "x"}))).is_empty());
    }

    /// Returns the slot as the printer now reports it; a number that no changer has means the external spool.
    fn chosen(changer: &Changer, slot: u32) -> FilamentSlot {
        changer.chosen(slot)
    }

    #[test]
    fn filaments_come_from_the_slots_that_were_chosen() {
        let ams = two_changers();
        let changer = Changer::of(Some(&ams), None);
        let of = |slot| Some(chosen(&changer, slot));
        let fed = |filaments: &[Option<FilamentSlot>]| changer.feed(filaments).map(|feed| (feed.use_ams, feed.mapping));
        assert_eq!(fed(&[of(1)]), Ok((true, vec![1])));
        assert_eq!(fed(&[of(7), None, of(0)]), Ok((true, vec![7, -1, 0])));
        assert_eq!(fed(&[]), Ok((true, vec![2])), "what feeds the nozzle now");
        assert_eq!(fed(&[of(20)]), Ok((false, vec![])), "the spool beside the changer");
        assert_eq!(fed(&[of(20), of(20)]), Ok((false, vec![])));
        assert!(matches!(fed(&[of(0), of(20)]), Err(PrinterError::Invalid(_))), "one or the other");
        assert!(matches!(fed(&[of(20), of(21)]), Err(PrinterError::Invalid(_))), "there is one spool beside it");
        let none = Changer::of(Some(&json!({"tray_now": "255"})), None);
        assert_eq!(none.feed(&[Some(chosen(&none, 0))]).unwrap(), FilamentSource::default());
        assert_eq!(none.feed(&[]).unwrap(), FilamentSource::default());
    }

    #[test]
    fn what_was_chosen_from_the_changer_never_comes_from_beside_it() {
        let before = Changer::of(Some(&two_changers()), None);
        let mut one = two_changers();
        one["ams"].as_array_mut().unwrap().truncate(1);
        one["ams"][0]["tray"][1]["tray_color"] = json!("00FF00FF");
        let mut swapped = two_changers();
        swapped["ams"][1]["tray"][0]["tray_type"] = json!("ABS");
        for (now, slot, why) in [
            (json!({}), 1, "is gone"),
            (one.clone(), 7, "is gone"),
            (one, 1, "has changed"),
            (swapped, 7, "has changed"),
        ] {
            let refused = Changer::of(Some(&now), None).feed(&[Some(chosen(&before, slot))]).unwrap_err();
            assert!(refused.certainly_not_done() && refused.to_string().contains(why), "{refused}");
        }
        // A changer was fitted since: what a person said of the slot may be elsewhere now.
        let beside = [Some(FilamentSlot { slot: 1, spool: None })];
        assert!(before.feed(&beside).unwrap_err().to_string().contains("has changed"));
    }
}
