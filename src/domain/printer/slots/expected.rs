//! Comparison of the spool displayed to an operator for a slot with the spool that the printer currently reports there,
//! because it may have been swapped in the meantime.

use super::{Slot, SlotSource};
use crate::printer::Printer;
use crate::refusal::Refusal;

/// Spool that a printer reports in a slot; all fields are `None` if it does not report one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SlotReport {
    /// The vendor's code for the spool.
    pub vendor_code: Option<String>,
    /// Type of plastic, such as `PETG`.
    pub kind: Option<String>,
    /// Colour as `#rrggbb`.
    pub color: Option<String>,
}

impl SlotReport {
    /// Returns the printer's report about a slot. Content entered by an operator is not a report.
    pub fn of(slot: &Slot) -> Self {
        match slot.source {
            SlotSource::Manual => Self::default(),
            SlotSource::Printer => {
                Self { vendor_code: slot.vendor_code.clone(), kind: slot.kind.clone(), color: slot.color.clone() }
            }
        }
    }

    /// Returns a display text that consists of the type of plastic, the vendor's code and the colour; `None` if no
    /// spool is reported.
    pub fn words(&self) -> Option<String> {
        let parts: Vec<&str> =
            [&self.kind, &self.vendor_code, &self.color].into_iter().filter_map(|part| part.as_deref()).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Returns a copy with its text normalised for comparison, because clients and forms may strip leading and trailing
    /// spaces.
    fn plain(&self) -> Self {
        let plain = |text: &Option<String>| {
            text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_ascii_lowercase)
        };
        Self { vendor_code: plain(&self.vendor_code), kind: plain(&self.kind), color: plain(&self.color) }
    }
}

impl Printer {
    /// Checks that the printer still reports the expected spool in the slot.
    pub(super) fn check_report(&self, number: u32, expected: &SlotReport) -> Result<(), Refusal> {
        let slot = self.slots.iter().find(|one| one.slot == number);
        let current = slot.map(SlotReport::of).unwrap_or_default();
        if current.plain() == expected.plain() {
            return Ok(());
        }
        let words = |report: &SlotReport| report.words().unwrap_or_else(|| "no spool".to_owned());
        let message = format!(
            "the spool was swapped: the printer now reports {} in this slot instead of {}; check it and try again",
            words(&current),
            words(expected)
        );
        Err(Refusal::conflict("spool_changed", message))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::printer::tests::PrinterFixture;
    use crate::printer::{PrinterCommand, PrinterNews, Spool};
    use crate::printer_status::ReportedSlot;
    use crate::refusal::Class;
    use crate::testing::id;

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned()).filter(|text| !text.is_empty())
    }

    fn report(code: &str, kind: &str, color: &str) -> SlotReport {
        SlotReport { vendor_code: text(code), kind: text(kind), color: text(color) }
    }

    /// Swaps the spool in the first slot of a printer that reads its spools.
    fn swap_spool(shop: &mut PrinterFixture, spool: SlotReport) {
        let SlotReport { vendor_code, kind, color } = spool;
        let slots = vec![ReportedSlot { slot: 0, vendor_code, kind, color, remaining: None }];
        shop.ask(PrinterNews::SlotsReported { slots, bindings: Vec::new() }).unwrap();
    }

    /// Binds the spool in a slot to a material, and returns the refusal if it is refused.
    fn bind(shop: &mut PrinterFixture, slot: u32, expected: Option<SlotReport>) -> Option<Refusal> {
        let spool = Spool { material_id: Some(id(7)), color: None, remaining: None, spool: None };
        shop.ask(PrinterCommand::LoadSlot { slot, spool, expected }).err()
    }

    #[test]
    fn a_spool_that_was_swapped_since_it_was_shown_is_not_bound() {
        let expected = report("GFA00", "PLA", "#1b1b22");
        for swapped in [
            report("GFB00", "PLA", "#1b1b22"),
            report("GFA00", "ABS", "#1b1b22"),
            report("GFA00", "PLA", "#f4f1e6"),
            report("GFA00", "", "#1b1b22"),
            report("", "", ""),
        ] {
            let mut shop = PrinterFixture::idle();
            swap_spool(&mut shop, swapped.clone());
            let refusal = bind(&mut shop, 0, Some(expected.clone())).unwrap();
            assert_eq!((refusal.class, refusal.code.as_str()), (Class::Conflict, "spool_changed"), "{swapped:?}");
            assert_eq!(shop.p().slots()[0].material_id, None, "{swapped:?}");
            assert_eq!(shop.p().bindings().count(), 0, "{swapped:?}");
            assert!(bind(&mut shop, 0, Some(swapped)).is_none());
            assert_eq!(shop.p().slots()[0].material_id, Some(id(7)));
        }
    }

    #[test]
    fn a_refusal_names_both_spools() {
        let mut shop = PrinterFixture::idle();
        swap_spool(&mut shop, report("GFB00", "ABS", "#ff0000"));
        let refusal = bind(&mut shop, 0, Some(report("GFA00", "PLA", "#1b1b22"))).unwrap();
        assert!(
            refusal.message.contains("reports ABS GFB00 #ff0000 in this slot instead of PLA GFA00 #1b1b22"),
            "{refusal:?}"
        );
        let refusal = bind(&mut shop, 0, Some(SlotReport::default())).unwrap();
        assert!(refusal.message.contains(" instead of no spool; "), "{refusal:?}");
    }

    #[test]
    fn the_same_spool_in_another_spelling_is_bound_and_so_is_one_that_nobody_saw() {
        let mut shop = PrinterFixture::idle();
        swap_spool(&mut shop, report(" GFA00 ", "PLA", "#1b1b22"));
        assert!(bind(&mut shop, 0, Some(report("GFA00", "pla", "#1B1B22"))).is_none());
        swap_spool(&mut shop, report("GFB00", "ABS", "#ff0000"));
        assert!(bind(&mut shop, 0, None).is_none());
    }

    #[test]
    fn what_an_operator_said_of_a_slot_is_no_report() {
        let mut shop = PrinterFixture::idle();
        for slot in [0, 3] {
            assert!(bind(&mut shop, slot, Some(report("GFA00", "", ""))).is_some());
            assert!(bind(&mut shop, slot, Some(SlotReport::default())).is_none());
            assert!(bind(&mut shop, slot, Some(SlotReport::default())).is_none(), "nor what was said of it");
        }
    }
}
