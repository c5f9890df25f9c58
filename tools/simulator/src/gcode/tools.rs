//! G-code for printers with several tools or a filament changer.

use super::gcode;

/// Length in millimetres of one gram of 1.75 mm filament with a density of 1.24 g/cm³.
pub(super) const MM_PER_GRAM: f64 = 335.3;

/// Generates G-code as [`gcode`] does, but for several filaments, given as the grams and the colour (`#rrggbb`) of
/// each.
pub fn gcode_of_several(name: &str, seconds: u64, filaments: &[(f64, &str)]) -> String {
    let all: f64 = filaments.iter().map(|(grams, _)| grams).sum();
    let list = |of: &dyn Fn(f64) -> String| filaments.iter().map(|(grams, _)| of(*grams)).collect::<Vec<_>>();
    let (grams, mm) = (list(&|grams| format!("{grams:.2}")), list(&|grams| format!("{:.2}", grams * MM_PER_GRAM)));
    let colours: Vec<&str> = filaments.iter().map(|(_, colour)| *colour).collect();
    let code = gcode(name, seconds, all, all * MM_PER_GRAM);
    let lines = code.lines().map(|line| match line.split_once(" = ").map(|(key, _)| key) {
        Some(key @ "; filament used [g]") => format!("{key} = {}", grams.join(", ")),
        Some(key @ "; filament used [mm]") => format!("{key} = {}", mm.join(", ")),
        Some(key @ "; filament_type") => {
            let kinds = vec!["PLA"; filaments.len()];
            format!("{key} = {}\n; filament_colour = {}", kinds.join(";"), colours.join(";"))
        }
        _ => line.to_owned(),
    });
    lines.map(|line| line + "\n").collect()
}
