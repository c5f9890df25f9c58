//! Chooses the slots for a manual print: those named by an operator, otherwise those that definitely fit. If several
//! slots fit, or none does, an operator has to choose.

use super::{BESIDE_SLOT, Changer, ChangerSlot, MAX_FILAMENTS, label};
use crate::adapter::{PrinterError, RequestedSlots};
use domain::file::PlateFilament;
use domain::launch::FilamentSlot;
use domain::slot_label::SlotLabel;

impl Changer {
    /// Chooses the slot for each filament of the file, by filament index. The sources are considered in this order: the
    /// slots named by an operator; the source that currently feeds the nozzle; slots that hold the kind and colour of
    /// each filament; the only spool in the changers; the external spool. A spool known to be of a different kind is
    /// skipped. A printer without changers offers no choice.
    ///
    /// # Errors
    ///
    /// Fails with [`PrinterError::Invalid`], whose message contains the filaments, the contents of the slots, and
    /// instructions.
    pub(in super::super) fn choose(&self, request: &RequestedSlots) -> Result<Vec<Option<FilamentSlot>>, PrinterError> {
        let RequestedSlots { filaments, named } = request;
        let indices: Vec<u32> = if filaments.is_empty() {
            (0u32..).take(named.len().max(1)).collect()
        } else {
            filaments.iter().map(|filament| filament.index).collect()
        };
        if indices.iter().any(|index| *index as usize >= MAX_FILAMENTS) {
            return Err(PrinterError::Invalid(format!("a print can use at most {MAX_FILAMENTS} filaments")));
        }
        let slots = if named.is_empty() {
            self.fitting(filaments).ok_or_else(|| self.unfit(filaments))?
        } else {
            self.named(named, indices.len())?;
            named.clone()
        };
        let all = indices.iter().max().map_or(0, |last| *last as usize + 1);
        let mut chosen = vec![None; all];
        for (index, slot) in indices.into_iter().zip(slots) {
            chosen[index as usize] = Some(self.chosen(slot));
        }
        self.feed(&chosen)?;
        Ok(chosen)
    }

    /// Returns the given slot with its current contents.
    pub(super) fn chosen(&self, slot: u32) -> FilamentSlot {
        FilamentSlot { slot, spool: self.place(slot).map(|place| place.spool.clone()) }
    }

    /// Checks the slots named by an operator: there must be one for each filament, and all must exist.
    fn named(&self, named: &[u32], filaments: usize) -> Result<(), PrinterError> {
        if named.len() != filaments {
            return Err(PrinterError::Invalid(format!(
                "slots specified: {}, filaments on the plate: {filaments}; specify one slot for each filament, in the same order",
                named.len()
            )));
        }
        match named.iter().find(|slot| **slot != BESIDE_SLOT && self.place(**slot).is_none()) {
            Some(slot) => Err(PrinterError::Invalid(format!(
                "the printer has no slot {}: {}; slot A1 has the number 0, and {BESIDE_SLOT} is the external spool",
                requested(*slot),
                self.in_words()
            ))),
            None => Ok(()),
        }
    }

    /// Returns the slots that fit the filaments; `None` if an operator has to choose.
    fn fitting(&self, filaments: &[PlateFilament]) -> Option<Vec<u32>> {
        let one = filaments.len() <= 1;
        let required = filaments.first().and_then(|filament| filament.kind.as_deref());
        // What is unknown fits.
        let fits =
            |loaded: Option<&String>| required.zip(loaded).is_none_or(|(required, loaded)| same_kind(required, loaded));
        let kind = |slot: u32| self.place(slot).map_or(self.beside.as_ref(), |place| place.kind.as_ref());
        if let Some(now) = self.now.filter(|now| one && fits(kind(*now))) {
            return Some(vec![now]);
        }
        if self.places.is_empty() {
            return Some(vec![BESIDE_SLOT; filaments.len().max(1)]);
        }
        let matching: Option<Vec<u32>> = filaments.iter().map(|filament| self.matching(filament)).collect();
        if let Some(slots) = matching.filter(|slots| !slots.is_empty()) {
            return Some(slots);
        }
        let spooled: Vec<&ChangerSlot> = self.spooled().collect();
        match &spooled[..] {
            [only] if one && fits(only.kind.as_ref()) => Some(vec![only.slot]),
            _ if one && self.beside.is_some() && fits(self.beside.as_ref()) => Some(vec![BESIDE_SLOT]),
            _ => None,
        }
    }

    /// Returns the slot that holds the kind and colour of a filament. Spools that even the printer cannot tell apart
    /// are treated as one.
    fn matching(&self, filament: &PlateFilament) -> Option<u32> {
        let required = filament.kind.as_deref()?;
        let alike = |place: &&ChangerSlot| {
            let color = place.spool.color.as_deref();
            let coloured =
                |required_color: &String| color.is_some_and(|color| color.eq_ignore_ascii_case(required_color));
            place.kind.as_deref().is_some_and(|kind| same_kind(required, kind))
                && filament.color.as_ref().is_none_or(coloured)
        };
        let mut matches = self.places.iter().filter(alike);
        let first = matches.next()?;
        matches.all(|other| other.spool == first.spool).then_some(first.slot)
    }

    /// Returns the slots known to hold a spool.
    fn spooled(&self) -> impl Iterator<Item = &ChangerSlot> {
        self.places.iter().filter(|place| place.kind.is_some() || place.spool.vendor_code.is_some())
    }

    fn unfit(&self, filaments: &[PlateFilament]) -> PrinterError {
        let needs: Vec<String> =
            filaments.iter().map(|one| in_words(one.kind.as_deref(), one.color.as_deref())).collect();
        let needs = if needs.is_empty() { "an unknown filament".to_owned() } else { needs.join(" and ") };
        PrinterError::Invalid(format!(
            "the slots to print from are ambiguous: the file needs {needs}, and {}; specify a slot for each filament, or \
             load the filament that the file needs",
            self.in_words()
        ))
    }

    /// Describes the contents of all slots.
    fn in_words(&self) -> String {
        let of = |place: &ChangerSlot| {
            let held = place.kind.as_deref().or(place.spool.vendor_code.as_deref());
            format!("slot {} contains {}", label(place.slot), in_words(held, place.spool.color.as_deref()))
        };
        let descriptions: Vec<String> = self.spooled().map(of).collect();
        if descriptions.is_empty() {
            "no slot of the filament changer contains a known spool".to_owned()
        } else {
            descriptions.join(", ")
        }
    }
}

/// Returns the label of the slot that an operator named or, if no changer has such a slot, its number.
fn requested(slot: u32) -> String {
    match label(slot) {
        SlotLabel::External => slot.to_string(),
        other => other.to_string(),
    }
}

fn same_kind(one: &str, other: &str) -> bool {
    one.trim().eq_ignore_ascii_case(other.trim())
}

fn in_words(kind: Option<&str>, color: Option<&str>) -> String {
    [Some(kind.unwrap_or("a filament")), color].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use serde_json::{Value, json};

    use super::*;

    fn tray(slot: u32, kind: &str, color: &str) -> Value {
        json!({"id": slot.to_string(), "tray_type": kind, "tray_info_idx": format!("GF-{kind}"), "tray_color": format!("{color}FF")})
    }

    /// Builds a changer with the given spools, and an external spool of the kind `beside`; an empty kind means that
    /// none is reported.
    fn changer(now: u32, trays: &[Value], beside: &str) -> Changer {
        let ams = json!({"tray_now": now.to_string(), "ams": [{"id": "0", "tray": trays}]});
        Changer::of(Some(&ams), Some(&json!({"id": "254", "tray_type": beside})))
    }

    fn four(now: u32, beside: &str) -> Changer {
        let last = json!({"id": "3"});
        let trays = [tray(0, "PLA", "000000"), tray(1, "PLA", "FF0000"), tray(2, "PETG", "FF0000"), last];
        changer(now, &trays, beside)
    }

    fn filament(index: u32, kind: &str, color: &str) -> PlateFilament {
        let non_empty = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        PlateFilament { index, kind: non_empty(kind), color: non_empty(color), ..PlateFilament::default() }
    }

    fn chosen(changer: &Changer, filaments: &[PlateFilament], named: &[u32]) -> Result<Vec<Option<u32>>, String> {
        let request = RequestedSlots { filaments: filaments.to_vec(), named: named.to_vec() };
        let slots = changer.choose(&request).map_err(|error| {
            assert!(error.certainly_not_done(), "{error}");
            error.to_string()
        })?;
        Ok(slots.into_iter().map(|slot| slot.map(|slot| slot.slot)).collect())
    }

    #[test]
    fn what_a_person_names_comes_before_all_else() {
        let four = four(0, "PLA");
        let red = filament(0, "PLA", "#ff0000");
        assert_eq!(chosen(&four, std::slice::from_ref(&red), &[2]), Ok(vec![Some(2)]));
        assert_eq!(chosen(&four, &[], &[3]), Ok(vec![Some(3)]), "what nobody knows of may be there");
        assert_eq!(chosen(&four, std::slice::from_ref(&red), &[BESIDE_SLOT]), Ok(vec![Some(BESIDE_SLOT)]));
        let second = filament(2, "PETG", "");
        assert_eq!(chosen(&four, &[red.clone(), second.clone()], &[2, 0]), Ok(vec![Some(2), None, Some(0)]));
        for (filaments, named, why) in [
            (vec![red.clone()], vec![4], "no slot B1"),
            (vec![red.clone()], vec![103], "no slot Z4"),
            (vec![red.clone()], vec![104], "no slot 104:"),
            (vec![red.clone()], vec![u32::MAX], "no slot 4294967295:"),
            (vec![red.clone()], vec![1, 2], "filaments on the plate: 1;"),
            (vec![red.clone(), second.clone()], vec![1], "filaments on the plate: 2;"),
            (vec![red, second], vec![1, BESIDE_SLOT], "or the one external spool"),
        ] {
            let words = chosen(&four, &filaments, &named).unwrap_err();
            assert!(words.contains(why), "{words}");
        }
    }

    #[test]
    fn what_feeds_the_nozzle_goes_on_unless_it_is_another_plastic() {
        let red = [filament(1, "PLA", "#ff0000")];
        assert_eq!(chosen(&four(0, ""), &red, &[]), Ok(vec![None, Some(0)]));
        assert_eq!(chosen(&four(BESIDE_SLOT, "PLA"), &red, &[]), Ok(vec![None, Some(BESIDE_SLOT)]));
        assert_eq!(chosen(&four(0, ""), &[], &[]), Ok(vec![Some(0)]), "of a file of which nothing is known");
        assert_eq!(chosen(&four(2, ""), &red, &[]), Ok(vec![None, Some(1)]), "PETG is not PLA");
    }

    #[test]
    fn between_prints_the_changer_serves_what_it_holds() {
        let four = four(255, "PLA");
        let of = |kind: &str, color: &str| chosen(&four, &[filament(0, kind, color)], &[]);
        assert_eq!(of("PLA", "#FF0000"), Ok(vec![Some(1)]));
        assert_eq!(of("petg", ""), Ok(vec![Some(2)]), "the only one of its plastic");
        assert_eq!(of("PLA", "#00ff00"), Ok(vec![Some(BESIDE_SLOT)]), "no such colour in the changer");
        let two = [filament(0, "PETG", "#ff0000"), filament(3, "PLA", "#000000")];
        assert_eq!(chosen(&four, &two, &[]), Ok(vec![Some(2), None, None, Some(0)]));
        let twice = changer(255, &[tray(0, "PLA", "000000"), tray(2, "PLA", "000000")], "");
        assert_eq!(chosen(&twice, &[filament(0, "PLA", "#000000")], &[]), Ok(vec![Some(0)]), "alike");
    }

    #[test]
    fn the_only_spool_and_the_spool_beside_come_last() {
        let one = changer(255, &[tray(2, "PLA", "000000"), json!({"id": "3"})], "PLA");
        assert_eq!(chosen(&one, &[filament(0, "PLA", "#ffffff")], &[]), Ok(vec![Some(2)]));
        assert_eq!(chosen(&one, &[], &[]), Ok(vec![Some(2)]));
        let other = changer(255, &[tray(2, "ABS", "000000")], "PLA");
        assert_eq!(chosen(&other, &[filament(0, "PLA", "#ffffff")], &[]), Ok(vec![Some(BESIDE_SLOT)]));
        for without in [Changer::default(), Changer::of(Some(&json!({"tray_now": "255"})), None)] {
            assert_eq!(chosen(&without, &[], &[]), Ok(vec![Some(BESIDE_SLOT)]), "a printer without a changer");
            let two = [filament(0, "PLA", ""), filament(1, "PLA", "")];
            assert_eq!(chosen(&without, &two, &[]), Ok(vec![Some(BESIDE_SLOT), Some(BESIDE_SLOT)]));
        }
    }

    #[test]
    fn what_is_not_certain_is_asked_with_what_is_needed_and_what_is_there() {
        let two = [filament(0, "PLA", "#00ff00"), filament(1, "PLA", "#000000")];
        let cases: [(&str, &[PlateFilament]); 4] = [("", &[]), ("", &two[..1]), ("PETG", &two[..1]), ("PLA", &two)];
        for (beside, filaments) in cases {
            let words = chosen(&four(255, beside), filaments, &[]).unwrap_err();
            assert!(words.contains("slot A2 contains PLA #ff0000") && words.contains("specify a slot"), "{words}");
            assert!(filaments.is_empty() || words.contains("the file needs PLA #00ff00"), "{words}");
        }
        // A start without any choice is no way around it.
        assert!(matches!(four(255, "").feed(&[]), Err(PrinterError::Invalid(_))));
        let far = [filament(64, "PLA", "")];
        assert!(chosen(&four(255, "PLA"), &far, &[]).unwrap_err().contains("64 filaments"));
    }
}
