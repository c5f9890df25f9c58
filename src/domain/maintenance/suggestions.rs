//! Suggested reminders by machine type. No reminder is created automatically: operators adopt those that fit, and the
//! manufacturer's own manual takes precedence.

use super::ReminderFields;
use crate::amount::Amount;
use crate::sku::MachineType;

/// Suggestion: name, note, hours, prints, grams and failures; 0 for an interval that is not used.
type SuggestedReminder = (&'static str, &'static str, i64, i64, i64, i64);

const FILAMENT: [SuggestedReminder; 7] = [
    ("Clean the build plate", "Wash it with warm water and dish soap, without touching the surface.", 0, 25, 0, 0),
    ("Clean the nozzle", "Heat it, brush it off, and pull cold filament through it.", 100, 0, 0, 3),
    ("Lubricate rails and rods", "Wipe them clean first. Carbon rods need only cleaning.", 200, 0, 0, 0),
    ("Check belts and pulleys", "Tension, wear, and the screws of the pulleys.", 200, 0, 0, 0),
    ("Clean fans and extruder gears", "Remove dust and ground filament.", 300, 0, 0, 0),
    ("Check the filament path", "Wear of tubes, cutter and couplings.", 500, 0, 0, 0),
    ("Replace the nozzle", "Sooner with filled filament, later with a hardened nozzle.", 0, 0, 50_000, 0),
];
const RESIN: [SuggestedReminder; 3] = [
    ("Filter the resin and clean the vat", "Look for cured residue before every further print.", 0, 20, 0, 1),
    ("Replace the release film", "Cloudy, stretched or pitted film makes prints fail.", 0, 100, 0, 5),
    ("Lubricate the Z axis", "Wipe the spindle clean first.", 300, 0, 0, 0),
];
const LASER: [SuggestedReminder; 3] = [
    ("Clean lens and mirrors", "With lens tissue, when they are cold.", 40, 0, 0, 2),
    ("Clean the air path", "Exhaust, filter and honeycomb: residue can catch fire.", 80, 0, 0, 0),
    ("Lubricate the rails", "Wipe them clean first.", 200, 0, 0, 0),
];

/// Returns the suggested reminders for the given machine type. None of them is blocking.
pub fn suggestions(machine: MachineType) -> Vec<ReminderFields> {
    let usual: &[SuggestedReminder] = match machine {
        MachineType::FdmStandard | MachineType::FdmLarge => &FILAMENT,
        MachineType::ResinStandard | MachineType::ResinLarge => &RESIN,
        MachineType::LaserCutter | MachineType::LaserEngraver => &LASER,
    };
    let count = |number: i64| (number > 0).then_some(number);
    let amount = |number: i64| count(number).map(Amount::units);
    let fields = |(name, note, hours, prints, grams, failures): &SuggestedReminder| ReminderFields {
        name: (*name).to_owned(),
        note: Some((*note).to_owned()),
        every_hours: amount(*hours),
        every_prints: count(*prints),
        every_grams: amount(*grams),
        every_failures: count(*failures),
        blocking: false,
    };
    usual.iter().map(fields).collect()
}
