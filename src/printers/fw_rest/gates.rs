//! Gates of a filament changer controlled by Happy Hare, which reports their contents to Klipper. Pure.

use serde_json::Value;

use domain::printer_status::ReportedSlot;

/// Fields read from Klipper's object `mmu`. For printers without a changer, the object is empty.
pub(super) const FIELDS: &str = "gate_status,gate_vendor,gate_material,gate_filament_name,gate_color_rgb";

/// Maximum number of gates read per changer.
const MAX_GATES: usize = 64;
/// Value of `gate_status` for an empty gate.
const EMPTY_GATE: i64 = 0;

/// Returns the reported contents of each gate. Printers do not report how much filament remains.
pub(super) fn read(objects: &Value) -> Vec<ReportedSlot> {
    let Some(states) = objects.pointer("/mmu/gate_status").and_then(Value::as_array) else { return Vec::new() };
    let of = |field: &str, gate: usize| objects.pointer(&format!("/mmu/{field}/{gate}"));
    let one = |(gate, state): (usize, &Value)| {
        let slot = ReportedSlot { slot: gate as u32, ..ReportedSlot::default() };
        if state.as_i64() == Some(EMPTY_GATE) {
            return slot;
        }
        let words = ["gate_vendor", "gate_material", "gate_filament_name"];
        let words = words.iter().filter_map(|field| of(field, gate)?.as_str()).map(str::trim);
        let code = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        // A gate of which nobody said anything is black.
        let is_known = !code.is_empty();
        let color = of("gate_color_rgb", gate).filter(|_| is_known).and_then(color);
        let kind = of("gate_material", gate).and_then(Value::as_str).map(|kind| kind.trim().to_owned());
        ReportedSlot {
            vendor_code: Some(code).filter(|_| is_known),
            kind: kind.filter(|kind| !kind.is_empty()),
            color,
            ..slot
        }
    };
    states.iter().take(MAX_GATES).enumerate().map(one).collect()
}

/// Formats three colour components from 0 to 1 as `#rrggbb`.
fn color(shares: &Value) -> Option<String> {
    let byte = |at: usize| Some((shares.get(at)?.as_f64()?.clamp(0.0, 1.0) * 255.0).round() as u8);
    Some(format!("#{:02x}{:02x}{:02x}", byte(0)?, byte(1)?, byte(2)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn gates_say_what_is_in_them() {
        let objects = json!({"mmu": {
            "gate_status": [1, 0, -1, 2, 1],
            "gate_vendor": ["Acme", "Acme", "", null],
            "gate_material": ["PLA", "PLA", "", "PETG", "ABS"],
            "gate_filament_name": ["Galaxy Black", "Red", "", "", "  "],
            "gate_color_rgb": [[0.1, 0.1, 0.13], [1, 0, 0], [0, 0, 0], [1.0, 0.5, 2.0], "red"],
        }});
        let expected: Vec<(u32, Option<&str>, Option<&str>)> = vec![
            (0, Some("Acme PLA Galaxy Black"), Some("#1a1a21")),
            (1, None, None),
            (2, None, None),
            (3, Some("PETG"), Some("#ff80ff")),
            (4, Some("ABS"), None),
        ];
        let actual = read(&objects);
        let actual: Vec<_> =
            actual.iter().map(|one| (one.slot, one.vendor_code.as_deref(), one.color.as_deref())).collect();
        assert_eq!(actual, expected);
        assert!(read(&json!({"mmu": {}})).is_empty(), "a printer without a changer");
    }

    proptest! {
        /// Verifies that any response yields at most the maximum number of gates, each with a distinct number.
        #[test]
        fn any_answer_is_read(states in prop::collection::vec(-3i64..4, 0..200), odd in ".{0,20}") {
            let objects = json!({"mmu": {"gate_status": states, "gate_vendor": [odd], "gate_material": odd, "gate_color_rgb": [[odd]]}});
            let slots = read(&objects);
            prop_assert_eq!(slots.len(), states.len().min(MAX_GATES));
            prop_assert!(slots.iter().enumerate().all(|(at, slot)| slot.slot as usize == at));
        }
    }
}
